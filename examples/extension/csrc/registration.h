#pragma once

#include <torch/library.h>

// The build names the namespace, as with -DSCALED_NAMESPACE=scaled. The macro around TORCH_LIBRARY replaces it.
#define SCALED_LIBRARY(NAMESPACE, MODULE) TORCH_LIBRARY(NAMESPACE, MODULE)
#define SCALED_LIBRARY_IMPL(NAMESPACE, KEY, MODULE) TORCH_LIBRARY_IMPL(NAMESPACE, KEY, MODULE)

// Registers scaled_NAME for the operator NAME.
#define SCALED_KERNEL(NAME) m.impl(#NAME, TORCH_FN(scaled_##NAME))
