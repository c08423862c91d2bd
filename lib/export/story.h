/* A plan as a story: about ten true sentences with their figures, each with the command that shows it. */
#ifndef LX_EXPORT_STORY_H
#define LX_EXPORT_STORY_H

#include "base/text.h"
#include "plan/plan.h"

enum { STORY_MOST = 12 };

/* `shown_by`: the words of a command behind "lxplan"; FILE stands for the plan. Free the sentences. */
struct story {
    int count;
    struct {
        struct text sentence;
        const char *shown_by;
    } at[STORY_MOST];
};

void story_make(const struct lx_plan *p, struct story *out);
void story_free(struct story *s);

#endif
