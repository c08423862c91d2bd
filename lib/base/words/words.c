/* The word that was meant. */
#include "base/words/words.h"
#include "base/fail.h"
#include "base/text.h"

#include <string.h>

enum { LONGEST_WORD = 40 };

/* Edits that turn one word into the other: insert, remove, replace, swap neighbours. */
static int words_distance(const char *a, const char *b)
{
    int row[3][LONGEST_WORD + 1];
    size_t la = strlen(a), lb = strlen(b);
    if (la > LONGEST_WORD || lb > LONGEST_WORD) return LONGEST_WORD;
    for (size_t i = 0; i <= la; i++) {
        int *now = row[i % 3], *one = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        for (size_t j = 0; j <= lb; j++) {
            if (i == 0 || j == 0) {
                now[j] = (int)(i + j);
                continue;
            }
            int best = one[j - 1] + (a[i - 1] != b[j - 1]);
            if (one[j] + 1 < best) best = one[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two[j - 2] + 1 < best)
                best = two[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[la % 3][lb];
}

const char *nearest(const char *word, const char *const *list)
{
    const char *best = NULL;
    int least = (int)strlen(word) / 3 + 2; /* further away it would be a guess */
    for (; *list; list++) {
        int d = words_distance(word, *list);
        if (*word && strncmp(word, *list, strlen(word)) == 0) d = 0; /* the beginning of one */
        if (d < least) least = d, best = *list;
    }
    return best;
}

bool unknown_word(const char *what, const char *word, const char *const *list, enum lx_code code,
                  lx_status *st)
{
    const char *near = nearest(word, list);
    struct text known = {0};
    for (const char *const *w = list; *w; w++) text_format(&known, "%s%s", w == list ? "" : ", ", *w);
    if (near)
        status_set(st, code, "%s \"%s\"; did you mean \"%s\"? There are: %s", what, word, near,
                   known.at ? known.at : "");
    else
        status_set(st, code, "%s \"%s\"; there are: %s", what, word, known.at ? known.at : "none");
    text_free(&known);
    return false;
}
