"""Jogak: the tokenization stage of a pretraining data pipeline, Korean first."""
