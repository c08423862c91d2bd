/* Device files: what is read is the same device when it is written and read again, in a file of its own and
 * in a pattern, and what is planned for it is legal. Sticks that are no multiple of an element are read only:
 * no device has them. */
#include "fuzz/whole_road.h"
#include "fuzz/small_files.h"
#include "base/memory.h"
#include "unstable.h"

static void write_again(const struct lx_device *d)
{
    lx_status st = {0};
    struct lx_device again;
    size_t n, m;
    char *text = lx_device_to_json(d, &n), *other = NULL;
    fuzz_must(lx_device_of_text("again", text, n, &again, &st), "a device that was written cannot be read",
              &st);
    fuzz_must(lx_device_same(d, &again), "a device is another one when it is read again", NULL);
    other = lx_device_to_json(&again, &m);
    fuzz_same(text, n, other, m, "a device is written otherwise the second time");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    lx_status st = {0};
    struct lx_device d;
    char *text = fuzz_text(data, length);
    if (!lx_device_of_text("fuzz", text, length, &d, &st))
        fuzz_refused(&st);
    else
        write_again(&d);
    if (st.code == LX_OK && d.stick_bytes % 16 == 0) {
        const struct lx_graph *g = lx_graph_of_text("small", small_pattern, strlen(small_pattern), &st);
        fuzz_must(g != NULL, "the small pattern", &st);
        const struct lx_graph *on = lx_graph_with_device(g, &d);
        fuzz_graph(on);
        lx_graph_free(on);
        lx_graph_free(g);
    }
    mem_free(text);
    return 0;
}
