#include "tui/explorer.h"

#include <string.h>

bool has_text(const char *haystack, const char *needle)
{
    return strcasestr(haystack, needle) != NULL;
}

void search_step(struct explorer *x, int direction)
{
    const struct view *v = all_views[x->overlay != VIEW_COUNT ? x->overlay : x->view];
    if (!x->search[0]) {
        explorer_say(x, TONE_DIM, "nothing to search for yet: / asks for it");
        return;
    }
    int n = v->count && (!v->needs_plan || session_plan(&x->session)) ? v->count(x) : 0;
    int from = n > 0 ? v->selected(x) : 0;
    for (int k = 1; k <= n; k++) {
        int i = ((from + direction * k) % n + n) % n;
        const char *item = v->item(x, i);
        if (!item || !has_text(item, x->search)) continue;
        v->select(x, i);
        bool wrapped = direction > 0 ? i <= from : i >= from;
        if (wrapped) explorer_say(x, TONE_DIM, i == from ? "the only match" : "went on from the other end");
        return;
    }
    explorer_say(x, TONE_BAD, "\"%s\" is not here", x->search);
}
