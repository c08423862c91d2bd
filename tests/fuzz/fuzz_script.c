/* Scripts of the explorer: keys as they are typed, on a pattern, a list or a plan, in screens of every size. A script is
 * taken to its end or refused as none; the last screen is written as text or as a drawing. */
#include "fuzz/in_process.h"
#include "fuzz/small_files.h"

enum { MOST_KEYS = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    static const char *const files[] = {"p.json", "l.csv", "plan.json", "p.json l.csv"};
    char line[200];
    unsigned sum = (unsigned)length;
    if (length > MOST_KEYS || fuzz_strays((const char *)data, length)) return 0;
    for (size_t i = 0; i < length; i++) sum = sum * 31 + data[i];
    fuzz_enter();
    fuzz_put("p.json", small_pattern, sizeof small_pattern - 1);
    fuzz_put("l.csv", small_list, sizeof small_list - 1);
    fuzz_put("keys", (const char *)data, length);
    if (sum / 64 % 4 == 2) fuzz_command("plan p.json -s bestfit -q -o plan.json");
    snprintf(line, sizeof line,
             "explore %s --no-config --tile none --work 100 --script @keys --size %ux%u --dump-screen %s",
             files[sum / 64 % 4], 1 + sum / 256 % 120, 1 + sum / 32768 % 45, sum % 2 ? "s.svg" : "s.txt");
    fuzz_command(line);
    return 0;
}
