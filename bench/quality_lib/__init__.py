"""Text normalisers, error rates and the runner behind bench/quality. Standard library only."""
