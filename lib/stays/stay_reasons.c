/* The words of reasons, and the reason behind a stay that would save nothing. */
#include "stays/stay_reasons.h"
#include "base/words/words.h"

static const char *const reason_words[] = {
#define LX_REASON_ROW(id, words) [id] = words,
    LX_REASONS(LX_REASON_ROW)
#undef LX_REASON_ROW
};

const char *reason_plain(enum lx_reason reason)
{
    return reason_words[reason];
}

const char *reason_text(struct arena *memory, enum lx_reason reason, struct reason_facts facts)
{
    const char *words = reason_words[reason], *next;
    SCOPED(text_free) struct text t = {0};
    for (; (next = strchr(words, '$')) != NULL; words = next + 2) {
        text_format(&t, "%.*s%s", (int)(next - words), words,
                    next[1] == 'o'   ? facts.op
                    : next[1] == 'p' ? facts.other
                    : next[1] == 's' ? facts.split
                    : next[1] == 't' ? facts.other_split
                                     : grouped(next[1] == 'n' ? facts.bytes : facts.room).at);
    }
    text_add(&t, words);
    const char *text = arena_string(memory, t.at);
    return text;
}

static const char *reasons_op_name(const struct draft *x, int32_t op)
{
    return x->graph->ops[op].name;
}

static const char *reason_of_size(const struct draft *x, int32_t stay, enum lx_reason reason)
{
    return reason_text(x->memory, reason,
                       (struct reason_facts){.op = reasons_op_name(x, x->stays[stay].view_op),
                                             .bytes = x->buffers[stay].size,
                                             .room = x->problem.capacity});
}

/* What keeps `stay` from serving `access`, too, or from being copied to the stay that serves it. */
static const char *obstacle_to_access(const struct draft *x, int32_t stay, int32_t access)
{
    const struct lx_stay *s = &x->stays[stay];
    int32_t op = x->access_op[access], other = x->accesses[access].stay;
    int32_t first = op < s->view_op ? op : s->view_op, second = op < s->view_op ? s->view_op : op;
    struct reason_facts facts = {.op = reasons_op_name(x, first), .other = reasons_op_name(x, second)};
    facts.split = splits_text(x->divisions, first, x->memory);
    facts.other_split = splits_text(x->divisions, second, x->memory);
    if (x->graph->ops[op].kind->traits & LX_EXTERN)
        return reason_text(x->memory, REASON_EXTERN, (struct reason_facts){.op = reasons_op_name(x, op)});
    if (x->wipes_before[first] != x->wipes_before[second]) return reason_text(x->memory, REASON_WIPED, facts);
    if (other < 0)
        return reason_text(x->memory, REASON_PARTIAL,
                           (struct reason_facts){.op = reasons_op_name(x, op),
                                                 .split = splits_text(x->divisions, op, x->memory)});
    if (x->buffers[other].size > x->problem.capacity) return reason_of_size(x, other, REASON_SIZE_THERE);
    if (x->stays[other].exclusion && x->stays[other].exclusion != LX_EXCLUDED_NO_GAIN)
        return x->buffers[other].reason;
    struct lx_core_view here = stay_view(x, stay), there = stay_view(x, other);
    bool split = x->how.passes.no_ring && !views_equal(&here, &there);
    return reason_text(x->memory, split ? REASON_SPLIT : REASON_LEAVES, facts);
}

const char *reason_of_no_gain(const struct draft *x, int32_t stay)
{
    const struct lx_stay *s = &x->stays[stay];
    struct reason_facts facts = {.op = reasons_op_name(x, s->view_op)};
    bool read = false;
    const char *reason = NULL;
    for (int32_t k = x->tensor_at[s->tensor]; k < x->tensor_at[s->tensor + 1] && !reason; k++) {
        int32_t access = x->tensor_access[k];
        read |= x->accesses[access].reads;
        if (x->accesses[access].stay == stay || x->access_op[access] == s->view_op) continue;
        bool own_size = x->buffers[stay].size > x->problem.capacity &&
                        x->wipes_before[x->access_op[access]] == x->wipes_before[s->view_op];
        reason = own_size ? reason_of_size(x, stay, REASON_SIZE) : obstacle_to_access(x, stay, access);
    }
    if (reason) return reason;
    return reason_text(x->memory,
                       read                                                ? REASON_READ_ONCE
                       : lx_role_leaves(x->graph->tensors[s->tensor].role) ? REASON_WRITTEN
                                                                           : REASON_UNREAD,
                       facts);
}
