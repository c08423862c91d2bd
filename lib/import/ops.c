#include "import/ops.h"
#include "import/layers/layers.h"
#include "import/map/import_steps.h"
#include "import/types/typing.h"

#define map_none        NULL
#define NONE            NULL, false, false
#define PART(name)      derive_##name, false, false
#define MACRO(name)     derive_##name, true, false
#define ONNX_PART(name) derive_##name, false, true
#define MANY            OP_MANY
#define OP(ttir, hlo, onnx, ours, map, form, least, most, type, elements, ...)                               \
    {{ttir, hlo, onnx},   ours,       map_##map, OP_##form, least, most, &type_##type,                       \
     ELEMENTS_##elements, __VA_ARGS__},

static const struct op_row ops[] = {
#include "import/ops.def"
};

const struct op_row *op_find(enum model_format dialect, const char *kind)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const char *name = ops[i].name[dialect];
        if (name && name[0] == kind[0] && strcmp(name, kind) == 0) return &ops[i];
    }
    return NULL;
}
