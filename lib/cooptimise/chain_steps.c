/* The steps of a tensor at an op: the rules of stays/stays.c and stays/traffic.c, one access at a time. */
#include "cooptimise/chain.h"

struct stepping {
    const struct chain_model *m;
    const struct chain_tensor *t;
    const struct chain_access *a;
    int32_t place, label; /* place before the access; label of the access, or -1 */
    bool on, lacking;     /* before the access: on chip; HBM lacks the last write */
    bool forced_off;      /* the label does not fit beside the op's other operands */
    struct chain_step *out;
    int count;
};

static void chain_steps_add(struct stepping *s, int32_t place, bool lacking, int64_t bytes, int64_t room)
{
    bool on = place == CHAIN_LABELS + s->label && s->label >= 0;
    s->out[s->count++] = (struct chain_step){
        .next = 2 * place + lacking, .bytes = bytes, .room = room, .label = on ? s->label : -1};
}

/* Serves the access through HBM. A copy on chip keeps its place. */
static void serve_off(struct stepping *s, int32_t place)
{
    int64_t bytes = s->a->bytes + (s->a->reads && s->lacking ? s->t->whole : 0);
    chain_steps_add(s, place, false, bytes, chain_size(s->t, 2 * s->place));
}

/* Serves the access on chip. `gone`: the place if the tensor leaves at once. `kept`: it may also stay in its
 * former view. */
static void serve_on(struct stepping *s, int32_t gone, bool kept)
{
    int32_t place = CHAIN_LABELS + s->label;
    bool other = s->on && s->place != place;
    bool fill = s->a->reads && (!s->on || (other && s->a->writes));
    int64_t bytes = fill ? s->t->whole + (s->lacking ? s->t->whole : 0) : 0;
    int64_t room = s->t->size[s->label] + (other && !s->a->writes ? chain_size(s->t, 2 * s->place) : 0);
    bool lacking = s->a->writes || (s->lacking && !fill);
    bool begins = s->a->writes && !s->a->reads && s->place != place;
    int from = s->count;
    if (room > s->m->room.capacity || s->forced_off) return;
    chain_steps_add(s, place, lacking, bytes, room);
    chain_steps_add(s, gone, lacking, bytes, room);
    if (kept && other && !s->a->writes) chain_steps_add(s, s->place, lacking, bytes, room);
    for (int i = from; i < s->count; i++) s->out[i].begins = begins, s->out[i].label = s->label;
}

/* With ring, without evictions: a label is on chip for the whole run or never. A tensor that is written under
 * another label stays off chip. */
static void step_with_ring(struct stepping *s)
{
    int32_t n = s->t->label_count, left = CHAIN_LABELS + n, shut = left + n;
    bool first = s->place == CHAIN_FREE, was_shut = s->place >= shut;
    bool same = !first && (s->place - CHAIN_LABELS) % n == s->label;
    if (!first && !same && s->a->writes) {
        if (was_shut) serve_off(s, s->place);
        return;
    }
    if (first)
        serve_off(s, shut + s->label);
    else if (!same || was_shut)
        serve_off(s, s->place);
    if (first || (s->on && same))
        serve_on(s, left + s->label, false);
    else if (s->on)
        serve_on(s, left + s->place - CHAIN_LABELS, true);
    else if (!same)
        serve_on(s, left + s->label, false);
}

static int step_access(const struct chain_model *m, const struct chain_touch *t, int32_t choice, int32_t k,
                       int32_t from, struct chain_step *out)
{
    int32_t label = t->label[choice * t->access_count + k];
    struct stepping s = {.m = m,
                         .t = &m->tensors[t->tensor],
                         .a = &t->access[k],
                         .place = from / 2,
                         .on = chain_on(&m->tensors[t->tensor], from / 2),
                         .label = label < -1 ? chain_forced_off(label) : label,
                         .forced_off = label < -1,
                         .lacking = from & 1,
                         .out = out};
    bool here = s.place == CHAIN_LABELS + s.label;
    if (s.label < 0) {
        /* An access without a label goes through HBM; a write begins a new run, so a tensor on chip rules it
         * out. */
        if (!s.on || !s.a->writes) serve_off(&s, s.a->writes ? CHAIN_FREE : s.place);
    } else if (s.t->strict) {
        step_with_ring(&s);
    } else if (m->ring && m->evict) { /* residencies may end anywhere */
        if (!here) serve_off(&s, s.a->writes ? CHAIN_FREE : s.place);
        serve_on(&s, CHAIN_FREE, true);
    } else if (s.on ? here : s.place != CHAIN_GONE) {
        /* Without ring: all accesses of a run have one label, or none is on chip; with evictions a run may
         * begin anywhere. */
        if (!s.on) serve_off(&s, m->evict ? CHAIN_FREE : CHAIN_OUT);
        if (s.on || s.place == CHAIN_FREE) serve_on(&s, m->evict ? CHAIN_FREE : CHAIN_GONE, false);
    }
    return s.count;
}

/* Adds a step; of two steps to the same state, each figure is the better one. */
static int chain_steps_merge(struct chain_step *out, int count, const struct chain_step *s)
{
    for (int i = 0; i < count; i++) {
        if (out[i].next != s->next) continue;
        out[i].bytes = min_i64(out[i].bytes, s->bytes);
        out[i].room = min_i64(out[i].room, s->room);
        out[i].begins |= s->begins;
        if (out[i].label < 0) out[i].label = s->label;
        return count;
    }
    out[count] = *s;
    return count + 1;
}

int chain_steps(const struct chain_model *m, const struct chain_touch *t, int32_t choice, int32_t from,
                struct chain_step *out)
{
    struct chain_step before[CHAIN_MOST_STEPS], more[8];
    int count = step_access(m, t, choice, 0, from, out);
    for (int32_t k = 1; k < t->access_count; k++) {
        int old = count;
        for (int i = 0; i < old; i++) before[i] = out[i];
        count = 0;
        for (int i = 0; i < old; i++) {
            int n = step_access(m, t, choice, k, before[i].next, more);
            for (int j = 0; j < n; j++) {
                more[j].bytes += before[i].bytes;
                more[j].room = max_i64(more[j].room, before[i].room);
                more[j].begins |= before[i].begins;
                if (more[j].label < 0) more[j].label = before[i].label;
                count = chain_steps_merge(out, count, &more[j]);
            }
        }
    }
    /* No tensor is on chip after a run. */
    int kept = 0;
    if (!t->ends_run && !t->last) return count;
    for (int i = 0; i < count; i++) {
        if (chain_on(&m->tensors[t->tensor], out[i].next / 2)) continue;
        out[i].next &= 1;
        out[kept++] = out[i];
    }
    return kept;
}
