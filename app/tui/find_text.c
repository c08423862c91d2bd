/* Search in the items of whatever view is on top, around its ends; capitals do not matter. */
#include "tui/explorer.h"

#include <string.h>

bool has_text(const char *haystack, const char *needle)
{
    return strcasestr(haystack, needle) != NULL;
}

void search_step(struct explorer *x, int direction)
{
    enum view_id top = explorer_top(x);
    if (!x->search[0]) {
        explorer_say(x, TONE_DIM, "nothing to search for yet: %s asks for it", KEY_OF(SEARCH));
        return;
    }
    int n = view_count(x, top), from = n > 0 ? view_selected(x, top) : 0;
    for (int k = 1; k <= n; k++) {
        int i = ((from + direction * k) % n + n) % n;
        const char *item = all_views[top]->item(x, x->states[top], i);
        if (!item || !has_text(item, x->search)) continue;
        view_select(x, top, i);
        bool wrapped = direction > 0 ? i <= from : i >= from;
        if (wrapped) explorer_say(x, TONE_DIM, i == from ? "the only match" : "went on from the other end");
        return;
    }
    explorer_say(x, TONE_BAD, "\"%s\" is not here", x->search);
}
