/* Files that no other target reads, through the commands that read them: a certificate, an instance of the suite, what
 * a program in the race answers, a placement with loops. The first byte says which. An instance writes nothing. */
#include "fuzz/in_process.h"
#include "fuzz/small_files.h"

enum { PROOF, INSTANCE, REPLY, LOOPS, OTHERS, MOST_DIGITS = 5 };

static const struct {
    const char *file, *command;
} others[OTHERS] = {{"proof", "check plan.json --certificate proof"},
                    {"x.instance", "plan x.instance -s bestfit --work 100 --tile none -q"},
                    {"reply", "plan l.csv --lx 12 -s cmd:cat<reply --time 9 -q"},
                    {"loops.json", "check loops.json"}};

/* A number in quotes with which a generator would work for long? */
static bool others_is_long(const char *data, size_t length)
{
    size_t digits = 0;
    for (size_t i = 0; i < length && digits <= MOST_DIGITS; i++)
        digits = data[i] < '0' || data[i] > '9' ? 0 : digits + (digits || (i && data[i - 1] == '"'));
    return digits > MOST_DIGITS;
}

static int others_is_new(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind;
    return walk->level && strcmp(path, "./p.json") && strcmp(path, "./l.csv") && strcmp(path, "./x.instance");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    size_t which = length ? data[0] % OTHERS : 0;
    const char *text = (const char *)data + 1;
    if (length < 2) return 0;
    if (which == INSTANCE && (others_is_long(text, length - 1) || fuzz_strays(text, length - 1))) return 0;
    fuzz_enter();
    fuzz_put("p.json", small_pattern, sizeof small_pattern - 1);
    fuzz_put("l.csv", small_list, sizeof small_list - 1);
    fuzz_put(others[which].file, text, length - 1);
    if (which == PROOF)
        fuzz_command("plan p.json --cores 1 --lx 4k --objective bytes --tile none -q -o plan.json");
    fuzz_command(others[which].command);
    fuzz_must(which != INSTANCE || nftw(".", others_is_new, 8, FTW_PHYS) == 0, "an instance wrote a file",
              NULL);
    return 0;
}
