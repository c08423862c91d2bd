/* Lists of buffers in all formats that have them (MiniMalloc, XLA, dsa, D2M, our own): read into a graph like a pattern, and
 * through the C interface; written in every format that takes them and read again; solved, and the answer checked. */
#include "fuzz/whole_road.h"
#include "base/memory.h"
#include "lxplan.h"

enum { MOST_SOLVED = 60 };

static void write_list(const struct lx_graph *g, const struct lx_format *f)
{
    lx_status st = {0};
    size_t n;
    char *text = f->write_buffers(&(struct lx_buffers){g->list->buffers, g->list->buffer_count,
                                                       g->list->alignment, g->list->buffer_ids},
                                  &n);
    const struct lx_graph *again = lx_graph_of_text("again", text, n, &st);
    fuzz_must(again != NULL, "a list that was written cannot be read", &st);
    fuzz_must(again->list->buffer_count == g->list->buffer_count,
              "a list has other buffers when it is read again", NULL);
    lx_graph_free(again);
    mem_free(text);
}

static void solve(const lx_placement *p)
{
    lx_error *e = lx_error_new();
    lx_options *o = lx_options_new();
    int32_t pools[MOST_SOLVED];
    int64_t addresses[MOST_SOLVED];
    double value, objective;
    lx_options_set(o, "work", "300", e);
    lx_result *r = lx_solve(p, o, e);
    int32_t count = r ? lx_result_places(r, pools, addresses, MOST_SOLVED) : 0;
    if (r && strcmp(lx_result_word(r, "status"), "optimal") == 0 && count <= MOST_SOLVED) {
        fuzz_must(lx_check(p, pools, addresses, count, &value, e) == 1, lx_error_text(e), NULL);
        fuzz_must(lx_result_number(r, "objective", &objective) == 0 && value <= objective &&
                      value >= objective,
                  "an answer has another value", NULL);
    }
    lx_result_free(r);
    lx_options_free(o);
    lx_error_free(e);
}

/* Through the interface; whatever it writes it reads. */
static void by_interface(const char *text, size_t length)
{
    static const char *const formats[] = {"pattern", "csv", "xla"};
    lx_error *e = lx_error_new();
    lx_placement *p = lx_placement_parse(text, (int64_t)length, NULL, e);
    fuzz_must(p || *lx_error_text(e), "refused without a word", NULL);
    for (int i = 0; p && i < 3; i++) {
        lx_text *out = lx_placement_write(p, formats[i], e);
        lx_placement *again =
            out ? lx_placement_parse(lx_text_data(out), lx_text_size(out), formats[i], e) : NULL;
        fuzz_must(again || !out, lx_error_text(e), NULL);
        lx_placement_free(again);
        lx_text_free(out);
    }
    if (p) solve(p);
    lx_placement_free(p);
    lx_error_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    lx_status st = {0};
    char *text = fuzz_text(data, length);
    const struct lx_graph *g = lx_graph_of_text("fuzz", text, length, &st);
    if (!g) fuzz_refused(&st);
    if (g && g->list && g->list->buffer_count <= MOST_SOLVED) {
        fuzz_graph(g);
        for (const struct lx_format *f = lx_formats(); f->name; f++)
            if (f->write_buffers && !g->list->pools) write_list(g, f);
        by_interface(text, length);
    }
    lx_graph_free(g);
    mem_free(text);
    return 0;
}
