/* What the three targets of models share: whatever is read is a graph with its report, folded or not; what is refused is so
 * with words. Extents that have names get small numbers. */
#ifndef LX_TESTS_FUZZ_MODEL_ROAD_H
#define LX_TESTS_FUZZ_MODEL_ROAD_H

#include "fuzz/whole_road.h"
#include "base/memory.h"

enum { FUZZ_MODEL_OPS = 3000 };

/* By the bytes, so that the same input always asks for the same: folded, expanded, strict. */
static inline struct lx_import_options fuzz_choices(const uint8_t *data, size_t length)
{
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++) sum = sum * 31 + data[i];
    return (struct lx_import_options){.branch = (int64_t)(sum >> 9 & 3) - 1,
                                      .no_fold = sum >> 5 & 1,
                                      .no_expand = (sum >> 6 & 3) == 0,
                                      .strict = (sum >> 11 & 7) == 0,
                                      .weight_dtype = sum >> 14 & 1,
                                      .share_cache = sum >> 15 & 1,
                                      .trips = 1 + (sum >> 16 & 3),
                                      .max_ops = FUZZ_MODEL_OPS};
}

static inline void fuzz_model(const uint8_t *data, size_t length)
{
    static const struct lx_model_binding dims[] = {{"batch", 2}, {"seq", 4}};
    struct lx_import_options options = fuzz_choices(data, length);
    lx_status st = {0};
    char *text = fuzz_text(data, length), *report = NULL;
    for (int i = 0; i < 2; i++)
        if (memmem(text, length, dims[i].name, strlen(dims[i].name)))
            options.model.dims = dims, options.model.dim_count = i + 1;
    const struct lx_graph *g = lx_model_import("fuzz", text, length, &options, &report, &st);
    if (g) {
        fuzz_must(report && report[0] == '{', "a model without a report", NULL);
        fuzz_graph(g);
    } else {
        fuzz_refused(&st);
    }
    lx_graph_free(g);
    mem_free(report);
    mem_free(text);
}

#endif
