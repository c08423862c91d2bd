/* Models of StableHLO, pretty and generic: see model_road.h. */
#include "fuzz/model_road.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    fuzz_model(data, length);
    return 0;
}
