/* Results files of the benchmark: rows that are read are written and read again as the same; every report and comparison
 * takes them. */
#include "fuzz/in_process.h"
#include "base/memory.h"
#include "bench/bench.h"

static void rows_again(const char *text, size_t length)
{
    struct results r = {0};
    lx_status st = {0};
    size_t torn;
    if (!results_parse(&r, "fuzz", text, length, &torn, &st)) fuzz_refused(&st);
    for (size_t i = 0; i < r.rows.count; i++) {
        struct text first = {0}, second = {0};
        struct row again = {0};
        row_write(&r.rows.at[i], &first);
        size_t n = first.length - (first.length && first.at[first.length - 1] == '\n');
        fuzz_must(row_read(&r.memory, "again", first.at, n, &again, &st),
                  "a row that was written cannot be read", &st);
        row_write(&again, &second);
        fuzz_same(first.at, first.length, second.at, second.length,
                  "a row that was read is written as another");
    }
    results_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static const char *const reports[] = {"report a.jsonl --plot",
                                          "report a.jsonl --format md --by instance",
                                          "report a.jsonl --format csv --by statistics",
                                          "report a.jsonl --format json",
                                          "report a.jsonl --format html -o page.html --svg plot.svg",
                                          "report a.jsonl b.jsonl --all",
                                          "report a.jsonl b.jsonl --merge --format json"};
    char *text = fuzz_text(data, length);
    fuzz_enter();
    rows_again(text, length);
    fuzz_put("a.jsonl", text, length);
    /* The other one: the same without its last line, so that something is missing. */
    const char *last = length ? memrchr(text, '\n', length - 1) : NULL;
    fuzz_put("b.jsonl", text, last ? (size_t)(last + 1 - text) : length);
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++) sum = sum * 31 + data[i];
    fuzz_command(reports[sum / 64 % (sizeof reports / sizeof *reports)]);
    mem_free(text);
    return 0;
}
