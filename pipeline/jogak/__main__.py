"""`python -m jogak` is `jogak`."""

from jogak.cli import main

if __name__ == "__main__":
    main()
