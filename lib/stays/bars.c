/* Eligibility: why a tensor may not be on chip. One place for all reasons, asked in order; the first that
 * holds is the one that is told. What only the size or the savings of a single stay decide is in stays.c. */
#include "stays/find_stays.h"
#include "base/words.h"

LX_WORDS(lx_bar_word, enum lx_bar, LX_BARS)

static const char *mismatch_text(struct builder *b, const struct run *r)
{
    struct draft *x = b->x;
    const struct seen *first = &b->seen.at[r->first], *other = first;
    for (size_t k = r->first; k < r->to && other->label == first->label; k++)
        if (b->seen.at[k].label >= 0) other = &b->seen.at[k];
    const char *one = splits_text(x->divisions, first->op, x->memory);
    const char *two = splits_text(x->divisions, other->op, x->memory);
    return arena_format(x->memory, "core-division mismatch: op %s cuts it %s, op %s %s",
                        op_of(b, first->op)->name, one, op_of(b, other->op)->name, two);
}

enum lx_bar bar_of_tensor(const struct lx_layouts *l, const struct lx_passes *how, int32_t tensor,
                          const char **text)
{
    const struct lx_tensor *t = &l->graph->tensors[tensor];
    bool shaped = l->layouts[tensor].rank > 0;
    if (t->memory == 1 + LX_MEMORY_HBM || t->placing == 1 + LX_INTERLEAVED) {
        *text = t->memory ? "the pattern says hbm" : "the pattern says interleaved, which only HBM is";
        return LX_BAR_STATED;
    }
    if (t->role == LX_STATE) {
        *text = "a state: its home is HBM, and what changes is written there";
        return LX_BAR_BOUNDARY;
    }
    bool given = lx_role_arrives(t->role);
    if (given && (how->clone == LX_CLONE_NONE || !shaped)) {
        *text = "graph input: it arrives in HBM";
        return LX_BAR_BOUNDARY;
    }
    if (lx_role_leaves(t->role) && (how->no_outputs || !shaped)) {
        *text = "graph output: it leaves through HBM";
        return LX_BAR_BOUNDARY;
    }
    return LX_BAR_NONE;
}

/* Is there, in one nest, an op that makes it and another access that another buffer, or HBM, serves,
 * while it is held for more than an iteration? */
static bool late_copy(const struct builder *b, const struct run *r)
{
    const struct draft *x = b->x;
    for (size_t k = r->from; k < r->to; k++) {
        const struct seen *s = &b->seen.at[k];
        for (size_t j = 0; held_by_one(x, s->access) && j < b->seen.count; j++)
            if (x->held[b->seen.at[j].access].nest == x->held[s->access].nest &&
                (b->seen.at[j].label != s->label || b->seen.at[j].run != s->run))
                return true;
    }
    return false;
}

enum lx_bar bar_of_run(struct builder *b, const struct run *r, const char **text)
{
    const struct draft *x = b->x;
    const struct lx_passes *how = &x->how.passes;
    int32_t first = b->seen.at[r->from].op;
    *text = NULL;
    if (b->seen.at[r->from].label == LABEL_EXTERN && r->first == r->to)
        *text = arena_format(x->memory, "op %s is extern and works on HBM only", op_of(b, first)->name);
    if (*text) return LX_BAR_EXTERN;
    if (how->no_dump && b->seen.at[0].run != b->seen.at[b->seen.count - 1].run)
        for (size_t k = 0; k < b->seen.count; k++)
            if (b->seen.at[k].label == LABEL_EXTERN || wiped_between(b, b->seen.at[0].op, b->seen.at[k].op)) {
                *text = "an extern op wipes the scratchpads while it lives, and dumps are switched off";
                return LX_BAR_EXTERN;
            }
    enum lx_bar bar = bar_of_tensor(x->layouts, how, r->tensor, text);
    if (bar) return bar;
    bool reduction = op_of(b, first)->reduces && !(op_of(b, first)->kind->traits & LX_CONTRACTS);
    if (how->stage == LX_STAGE_BASELINE || (how->stage == LX_STAGE_REDUCTIONS && !reduction)) {
        *text = "the stage that is asked for leaves it in HBM";
        return LX_BAR_STAGE;
    }
    if (r->first == r->to) {
        *text =
            arena_format(x->memory, "op %s cuts it %s, and then cores would need parts that are not theirs",
                         op_of(b, first)->name, splits_text(x->divisions, first, x->memory));
        return LX_BAR_PARTIAL;
    }
    if (late_copy(b, r)) {
        *text = "a copy of it would be made before the nest has made all of it";
        return LX_BAR_NEST;
    }
    if (r->many_views && (how->no_ring || r->writes_later)) {
        *text = mismatch_text(b, r);
        return LX_BAR_DIVISION;
    }
    return LX_BAR_NONE;
}
