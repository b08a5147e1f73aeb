TORCH_LIBRARY(others, m) {}
