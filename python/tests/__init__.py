"""The tests of the package. They need ``WINDLASS_BIN``, and nothing but Python: ``python -m unittest``."""
