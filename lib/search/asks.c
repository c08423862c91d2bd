/* What is asked of a plan: words, and the question that the solver answers for each. */
#include "plan/plan.h"

#include <string.h>

static const struct {
    const char *word;
    enum lx_objective question;
} asks[] = {
#define ROW(id, word, question) [id] = {word, question},
    LX_ASKS(ROW)
#undef ROW
};

const char *lx_ask_word(enum lx_ask a)
{
    return (unsigned)a < LX_ASK_COUNT ? asks[a].word : "unknown";
}

enum lx_ask lx_ask_find(const char *word)
{
    int a = 0;
    while (a < LX_ASK_COUNT && strcmp(asks[a].word, word) != 0) a++;
    for (int k = 1; a == LX_ASK_COUNT && k < LX_ASK_COUNT; k++)
        if (strcmp(lx_objective_word(asks[k].question), word) == 0) return (enum lx_ask)k;
    return (enum lx_ask)a;
}

enum lx_objective lx_asked(enum lx_ask a, enum lx_objective own)
{
    return a == LX_ASK_OWN || a >= LX_ASK_COUNT ? own : asks[a].question;
}
