/* Entries of the solve cache, with their sums and lengths set right so that the readers behind them are reached: whatever an
 * entry says, the plan that comes out of it is legal, and one of the graph at hand. */
#include "fuzz/small_files.h"
#include "fuzz/whole_road.h"
#include "base/memory.h"
#include "base/text.h"
#include "cache/cache_entry.h"
#include "cache/part_file.h"

#include <unistd.h>

/* The line of a part with the sum of the bytes that it stands for; the last one stands for all that is left. */
static void mend_part(const char *line, const char *body, size_t left, size_t *at, bool last,
                      struct text *out)
{
    char name[32], sum[33];
    long long length;
    if (sscanf(line, "part %31s %lld", name, &length) != 2 || length < 0) return;
    size_t most = left - *at, n = last || (uint64_t)length > most ? most : (size_t)length;
    part_sum(body + *at, n, sum);
    text_format(out, "part %s %lld %s\n", name, (uint64_t)length > most && !last ? length : (long long)n,
                sum);
    *at += n;
}

static bool begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* `text` is terminated. What has no end of its lines stays as it is. */
static void mend(const char *text, size_t length, const struct entry_key *key, struct text *out)
{
    const char *end = memchr(text, 0, length) ? NULL : strstr(text, "\n\n"), *body = end ? end + 2 : text;
    size_t left = length - (size_t)(body - text), at = 0;
    char sum[33];
    for (const char *line = text; end && line <= end; line += strcspn(line, "\n") + 1) {
        const char *next = line + strcspn(line, "\n") + 1;
        if (begins(line, "key "))
            text_format(out, "key %s\n", key->hash);
        else if (begins(line, "part "))
            mend_part(line, body, left, &at, !begins(next, "part "), out);
        else if (!begins(line, "head "))
            text_add_n(out, line, (size_t)(next - line));
    }
    if (end && out->at) {
        part_sum(out->at, out->length, sum);
        text_format(out, "head %s\n\n", sum);
    }
    text_add_n(out, body, left);
}

static void read_it(const char *path, const struct entry_key *key, const struct lx_graph *g,
                    const struct lx_plan_options *how)
{
    lx_status st = {0};
    struct lx_cache_entry facts;
    int64_t sizes[3];
    struct lx_recalled file = {0};
    entry_facts(path, &facts, sizes);
    memcpy(file.kept_as + 1, key->hash, sizeof key->hash);
    if (!entry_plan_file(path, &file, &st)) fuzz_refused(&st);
    lx_plan_free(entry_plan_of_graph(path, &file, g));
    struct lx_plan *p = entry_read(path, key, g, how, &st), *other = entry_plan(path, &st);
    if (p) fuzz_must(lx_plan_check(p, &st), "a plan of the cache is not legal", &st);
    if (p) fuzz_run(p);
    if (other && !lx_plan_check(other, &st)) fuzz_refused(&st);
    lx_plan_free(other);
    lx_plan_free(p);
    lx_recalled_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char path[64];
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit")};
    struct entry_key key;
    struct text whole = {0};
    char *text = mem_alloc(length + 1);
    const struct lx_graph *g = lx_graph_of_text("small", small_pattern, sizeof small_pattern - 1, &st);
    fuzz_must(g && text && entry_key_of(g, &how, &key), "no graph", &st);
    memcpy(text, data, length);
    text[length] = 0;
    mend(text, length, &key, &whole);
    snprintf(path, sizeof path, "/tmp/lxplan_fuzz_entry_%ld", (long)getpid());
    FILE *f = fopen(path, "wb");
    if (f && whole.length) fwrite(whole.at, 1, whole.length, f);
    if (f) fclose(f);
    read_it(path, &key, g, &how);
    remove(path);
    lx_graph_free(g);
    text_free(&whole);
    mem_free(text);
    return 0;
}
