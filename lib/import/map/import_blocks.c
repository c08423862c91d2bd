/* Weights that the file wants stored with common exponents (ttcore.weight_dtype): those that products read, or rows of
 * which are picked, are; others keep their type, and the report says so. */
#include "import/map/import.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

int import_block_of(const struct import *im, const struct model_value *v, enum lx_role role)
{
    static const struct {
        const char *word;
        enum lx_dtype type;
    } words[] = {{"bfp_bf8", LX_BFP8}, {"bfp_bf4", LX_BFP4}};
    const char *word = model_attr_word(&v->attrs, "ttcore.weight_dtype", "");
    for (size_t i = 0; im->options.weight_dtype && role == LX_WEIGHT && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) return 1 + (int)words[i].type;
    return 0;
}

/* By tensor: does an op read it as a number of its own? */
static bool *read_otherwise(const struct graph_builder *b)
{
    bool *otherwise = mem_zeroed(b->tensors.count + 1, sizeof *otherwise);
    for (size_t o = 0; otherwise && o < b->ops.count; o++)
        for (int i = 0; i < b->ops.at[o].input_count; i++)
            if (!lx_takes_blocks(&b->ops.at[o], i)) otherwise[b->ops.at[o].inputs[i]] = true;
    return otherwise;
}

bool import_store_blocks(struct import *im, struct graph_builder *b)
{
    bool *otherwise = read_otherwise(b), ok = otherwise != NULL;
    for (size_t i = 0; ok && i < im->storages.count; i++) {
        const struct storage *s = &im->storages.at[i];
        if (!s->block || s->tensor < 0) continue;
        enum lx_dtype type = (enum lx_dtype)(s->block - 1);
        bool weight = b->tensors.at[s->tensor].role == LX_WEIGHT && !otherwise[s->tensor];
        fact_add(&im->notes, "weight types", weight ? lx_dtype_word(type) : "kept: not only products read it",
                 1);
        if (weight) ok = builder_retype(b, s->tensor, type, im->st);
    }
    mem_free(otherwise);
    return ok;
}
