/* Search in the items of whatever view is on top, around its ends; capitals do not matter. */
#include "tui/core/explorer.h"

#include <string.h>

bool has_text(const char *haystack, const char *needle)
{
    return strcasestr(haystack, needle) != NULL;
}

static bool is_match(struct explorer *x, enum view_id view, int i)
{
    const char *item = all_views[view]->item(x, x->states[view], i);
    return item && has_text(item, x->search);
}

void search_step(struct explorer *x, int direction, bool here)
{
    enum view_id top = explorer_top(x);
    if (!x->search[0]) {
        explorer_say(x, TONE_DIM, "nothing to search for yet: %s asks for it", KEY_OF(SEARCH));
        return;
    }
    int n = view_count(x, top), from = n > 0 ? view_selected(x, top) : 0;
    for (int k = here ? 0 : 1; n > 0 && k <= n; k++) {
        int i = ((from + direction * k) % n + n) % n;
        if (!is_match(x, top, i)) continue;
        view_select(x, top, i);
        /* "2 of 4", and that it went on from the other end. */
        int all = 0, number = 0;
        for (int j = 0; j < n; j++)
            if (is_match(x, top, j)) {
                all++;
                if (j <= i) number++;
            }
        explorer_say(x, TONE_DIM, "%d of %d with \"%s\"%s", number, all, x->search,
                     (k > 0 && (direction > 0 ? i <= from : i >= from)) && all > 1 ? ", on from the other end"
                                                                                   : "");
        return;
    }
    explorer_say(x, TONE_BAD, "\"%s\" is not here", x->search);
}
