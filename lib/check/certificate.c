/* Certificates: what proves a plan's bound, in a file. The facts of a certificate must be those that the
 * checker finds itself; its prices, or its tick, are all that the maker adds. */
#include "check/proof.h"
#include "base/json/json.h"

enum { CERTIFICATE_FORMAT = 1, CERTIFICATE_OPS = 200, CERTIFICATE_BUFFERS = 20000 };

static const char *const CERTIFICATE_COMPULSORY = "compulsory", *const CERTIFICATE_LOAD = "load",
                         *const CERTIFICATE_DUAL = "dual", *const CERTIFICATE_SEARCH = "search";

static void certificate_begin(const struct proof_claim *q, const char *class, struct text *t)
{
    text_format(t, "{\"lxplan\": %d, \"kind\": \"certificate\", \"class\": \"%s\", \"least\": %" PRId64,
                CERTIFICATE_FORMAT, class, q->least);
}

static const char *certificate_keep(const struct proof_claim *q, struct text *t)
{
    text_add(t, "}");
    const char *kept = arena_string(q->memory, t->at);
    text_free(t);
    return kept;
}

static const char *certificate_compulsory(const struct proof_claim *q)
{
    struct text t = {0};
    certificate_begin(q, CERTIFICATE_COMPULSORY, &t);
    text_json_ints(&t, "must", q->must, q->c->g->tensor_count);
    return certificate_keep(q, &t);
}

static bool certificate_is_live(const struct lx_buffer *b, int64_t tick)
{
    return !b->reason && b->start + (b->parent_count > 0) <= tick && tick < b->end;
}

/* All buffers that are live on a tick, at which one of them begins, stand on top of each other, in units; only
 * the topmost may end between units. */
static const char *certificate_load(const struct proof_claim *q, int64_t tick)
{
    const struct lx_problem *p = &q->list;
    int64_t unit = 0, sum = 0, padding = 0, newest = -LX_INT_MAX;
    int count = 0;
    struct text t = {0};
    for (int32_t i = 0; i < p->count; i++)
        if (!p->buffers[i].reason && p->buffers[i].size > 0)
            unit = gcd_i64(lx_alignment_of(p, &p->buffers[i]), unit);
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!certificate_is_live(b, tick)) continue;
        int64_t size = round_up_i64(b->size, max_i64(unit, 1));
        padding = max_i64(padding, size - b->size);
        newest = max_i64(newest, b->start + (b->parent_count > 0));
        sum += size;
        count++;
    }
    if (newest != tick || sum - padding < q->least || lx_problem_needs(p) || p->pool_count) return NULL;
    int64_t *live = arena_array(q->memory, (size_t)count, sizeof *live);
    count = 0;
    for (int32_t i = 0; i < p->count; i++)
        if (certificate_is_live(&p->buffers[i], tick))
            live[count++] = round_up_i64(p->buffers[i].size, max_i64(unit, 1));
    certificate_begin(q, CERTIFICATE_LOAD, &t);
    text_format(&t, ", \"tick\": %" PRId64 ", \"padding\": %" PRId64, tick, padding);
    text_json_ints(&t, "live", live, count);
    return certificate_keep(q, &t);
}

static const char *certificate_priced(const struct proof_claim *q, const struct proof_facts *f,
                                      const char *class, const int64_t *prices, const struct proof *p)
{
    struct text t = {0};
    certificate_begin(q, class, &t);
    text_format(&t, ", \"sum\": %" PRId64, proof_sum(p));
    text_json_ints(&t, "prices", prices, f->op_count);
    text_add(&t, ",\n");
    proof_facts_write(f, &t);
    return certificate_keep(q, &t);
}

static bool certificate_facts(const struct proof_claim *q, struct proof_facts *f)
{
    bool ok = q->c || proof_facts_of_list(&q->list, q->memory, f);
    if (q->c) proof_facts_find(q->c, f);
    /* In any order of the ops more plans are possible than the facts have. */
    bool other_orders = q->c && q->c->p->passes.reorder;
    return ok && !other_orders && (!q->c || f->op_count <= CERTIFICATE_OPS);
}

const char *certificate_make(const struct proof_claim *q, const char **class)
{
    struct proof_facts f;
    struct proof p;
    const char *made = NULL;
    bool searched;
    *class = CERTIFICATE_COMPULSORY;
    if (q->c && q->least <= q->compulsory) return certificate_compulsory(q);
    *class = CERTIFICATE_LOAD;
    if (!q->c && q->list.objective == LX_HEIGHT) {
        for (int32_t i = 0; !made && i < q->list.count && q->list.count <= CERTIFICATE_BUFFERS; i++)
            made = certificate_load(q, q->list.buffers[i].start + (q->list.buffers[i].parent_count > 0));
        return made;
    }
    if (!certificate_facts(q, &f)) return NULL;
    int64_t *prices = arena_array(q->memory, (size_t)f.op_count + 1, sizeof *prices);
    proof_begin(&p, &f);
    proof_find_prices(&p, q->least, prices);
    if (proof_holds_under(&p, prices, q->least, &searched)) {
        *class = searched ? CERTIFICATE_SEARCH : CERTIFICATE_DUAL;
        made = certificate_priced(q, &f, *class, prices, &p);
    }
    proof_end(&p);
    return made;
}

static bool certificate_refuse(const struct proof_claim *q, const char *why)
{
    return status_set(q->st, LX_E_NO, "the certificate does not prove the claim: %s", why);
}

/* The certificate of this claim with the maker's part of `j`; NULL: `st`. */
static const char *certificate_again(const struct proof_claim *q, const struct json *j, const char **class)
{
    struct proof_facts f;
    struct proof p;
    const struct json_value *list, *v;
    const char *word, *why = NULL;
    int64_t tick = 0;
    int32_t count = 0;
    bool searched = false;
    if (!json_string(j, j->root, "class", &word, q->st)) return NULL;
    if (strcmp(word, CERTIFICATE_COMPULSORY) == 0 && q->c) {
        *class = CERTIFICATE_COMPULSORY;
        if (q->least <= q->compulsory) return certificate_compulsory(q);
        return certificate_refuse(q, "more than the compulsory bytes are claimed"), NULL;
    }
    if (strcmp(word, CERTIFICATE_LOAD) == 0 && !q->c && q->list.objective == LX_HEIGHT) {
        *class = CERTIFICATE_LOAD;
        if (!json_int(j, j->root, "tick", -LX_INT_MAX, LX_INT_MAX, &tick, q->st)) return NULL;
        const char *again = certificate_load(q, tick);
        if (!again) certificate_refuse(q, "the load of its tick is less");
        return again;
    }
    *class = strcmp(word, CERTIFICATE_DUAL) == 0 ? CERTIFICATE_DUAL : CERTIFICATE_SEARCH;
    if (strcmp(word, *class) != 0 || !certificate_facts(q, &f))
        return certificate_refuse(q, "there is no such class for this plan"), NULL;
    if (!json_array(j, j->root, "prices", &list, q->st)) return NULL;
    int64_t *prices = arena_array(q->memory, (size_t)f.op_count + 1, sizeof *prices);
    json_for_each(v, list) {
        if (count == f.op_count) return certificate_refuse(q, "it has more prices than ticks"), NULL;
        if (!json_int_value(j, v, "a price", 0, (int64_t)1 << 42, &prices[count++], q->st)) return NULL;
    }
    proof_begin(&p, &f);
    if (count < f.op_count)
        why = "it has fewer prices than ticks";
    else if (!proof_holds_under(&p, prices, q->least, &searched) ||
             searched != (*class == CERTIFICATE_SEARCH))
        why = "under its prices less may be possible";
    const char *again = why ? NULL : certificate_priced(q, &f, *class, prices, &p);
    proof_end(&p);
    if (why) certificate_refuse(q, why);
    return again;
}

bool certificate_check(const struct proof_claim *q, const char *text, const char **class)
{
    SCOPED(json_free) struct json given = {0}, own = {0};
    int64_t least = 0;
    bool ok = json_parse(&given, "certificate", text, strlen(text), q->st) &&
              json_int(&given, given.root, "least", -LX_INT_MAX, LX_INT_MAX, &least, q->st);
    if (ok && least != q->least) ok = certificate_refuse(q, "it is of another one");
    const char *again = ok ? certificate_again(q, &given, class) : NULL;
    ok = again && json_parse(&own, "certificate", again, strlen(again), q->st);
    if (ok && !json_same(given.root, own.root))
        ok = certificate_refuse(q, "its facts are not those of the plan");
    return ok;
}
