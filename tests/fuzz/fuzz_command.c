/* Command lines: words on one line each, the whole program in process, on small files that lie there (p.json a pattern,
 * l.csv a list, plan.json and team.json plans, r.jsonl results, m.hlo and m.mlir models, n.json loops). Exit codes are 0, 1
 * or 2, and whoever fails says so. Left out are words that lead out of the folder, and numbers with which anybody would
 * work for long. */
#include "fuzz/in_process.h"
#include "base/memory.h"
#include "fuzz/small_files.h"

#include <ctype.h>

/* Of all numbers the most digits: commands that repeat as often as they are told get small ones. */
enum { MOST_LINE = 400, MOST_DIGITS = 4, MOST_DIGITS_OF_REPEATERS = 2 };

static struct {
    char *at;
    size_t length;
} made[3];

static const char *const made_by[] = {"plan p.json -s bestfit -q -o plan.json",
                                      "plan p.json --team 2 -s bestfit -q -o team.json",
                                      "bench l.csv -s greedy,firstfit --seeds 2 -q -o r.jsonl"};
static const char *const made_names[] = {"plan.json", "team.json", "r.jsonl"};

static void keep_made(int i)
{
    FILE *f = fopen(made_names[i], "rb");
    fuzz_must(f != NULL, made_by[i], NULL);
    made[i].at = mem_alloc(1 << 20);
    made[i].length = made[i].at ? fread(made[i].at, 1, 1 << 20, f) : 0;
    fclose(f);
}

static void put_files(void)
{
    fuzz_enter();
    fuzz_put("p.json", small_pattern, sizeof small_pattern - 1);
    fuzz_put("l.csv", small_list, sizeof small_list - 1);
    fuzz_put("m.hlo", small_hlo, sizeof small_hlo - 1);
    fuzz_put("m.mlir", small_ttir, sizeof small_ttir - 1);
    fuzz_put("n.json", small_loops, sizeof small_loops - 1);
    for (int i = 0; i < 3; i++) {
        if (made[i].at)
            fuzz_put(made_names[i], made[i].at, made[i].length);
        else
            fuzz_command(made_by[i]), keep_made(i);
    }
}

static bool is_word(const char *line, const char *word)
{
    size_t n = strlen(word);
    return strncmp(line, word, n) == 0 && (line[n] == ' ' || !line[n]);
}

static bool takes_long(const char *line)
{
    static const char *const repeaters[] = {"bench", "sweep", "gen"};
    size_t most = MOST_DIGITS, run = 0;
    for (int i = 0; i < 3; i++)
        if (is_word(line, repeaters[i])) most = MOST_DIGITS_OF_REPEATERS;
    for (const char *c = line; *c; c++) {
        run = isdigit((unsigned char)*c) ? run + 1 : 0;
        if (run > most) return true;
    }
    /* Without a word: every solver on all bundled patterns. */
    return line[strspn(line, " ")] == 0 || strstr(line, "mpi") != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    char line[MOST_LINE + 1] = {0};
    if (length > MOST_LINE || fuzz_strays((const char *)data, length)) return 0;
    memcpy(line, data, length);
    for (char *c = line; *c; c++)
        if (*c == '\n') *c = ' ';
    if (takes_long(line)) return 0;
    put_files();
    fuzz_command(line);
    return 0;
}
