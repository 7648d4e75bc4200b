import dataclasses

import numpy as np
import unicodedata2


def normalize_batch(batch, options):
    form = options.form.upper()
    d = batch.data.tobytes()
    o = batch.offsets.tolist()
    parts = [unicodedata2.normalize(form, d[a:b].decode()).encode() for a, b in zip(o, o[1:])]
    off = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(p) for p in parts], out=off[1:])
    return dataclasses.replace(
        batch, data=np.frombuffer(b"".join(parts), dtype=np.uint8), offsets=off
    ), 0
