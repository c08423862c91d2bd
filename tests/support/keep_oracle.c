#include "support/keep_oracle.h"

bool oracle_of(const struct lx_plan *p, struct oracle *x)
{
    const struct draft *d = p->draft;
    const struct lx_graph *g = d->graph;
    *x = (struct oracle){.ops = g->op_count, .tensors = g->tensor_count, .capacity = p->problem.capacity};
    if (x->ops > ORACLE_OPS || x->tensors > ORACLE_TENSORS) return false;
    for (int t = 0; t < x->tensors; t++) {
        x->whole[t] = tensor_bytes(d->layouts, t);
        x->size[t] = p->problem.buffers[t].size;
        x->output[t] = g->tensors[t].role == LX_OUTPUT;
    }
    for (int o = 0; o < x->ops; o++) {
        const struct lx_op *op = &g->ops[o];
        if (op->input_count > 7) return false;
        x->operand_count[o] = op_operand_count(op);
        for (int i = 0; i < op_operand_count(op); i++) {
            x->operands[o][i] = op_operand(op, i);
            x->bytes[o][i] = d->accesses[d->access_at[o] + i].bytes;
            x->over[o][i] =
                i < op->input_count && !d->how.passes.no_in_place && draft_runs_over(d, o, op->inputs[i]);
        }
    }
    return true;
}

static void oracle_list_uses(struct oracle *x)
{
    for (int t = 0; t < x->tensors; t++) x->use_count[t] = 0;
    for (int tick = 0; tick < x->ops; tick++)
        for (int i = 0; i < x->operand_count[x->order[tick]]; i++) {
            int o = x->order[tick], t = x->operands[o][i], n = x->use_count[t];
            struct oracle_use *u = n > 0 && x->uses[t][n - 1].tick == tick ? &x->uses[t][n - 1] : NULL;
            if (!u) {
                u = &x->uses[t][x->use_count[t]++];
                *u = (struct oracle_use){.tick = tick};
            }
            *(i + 1 == x->operand_count[o] ? &u->writes : &u->reads) = true;
            u->bytes += x->bytes[o][i];
        }
}

/* HBM bytes of a tensor that is kept so. */
static int64_t oracle_cost(const struct oracle *x, int t, unsigned kept, unsigned alone)
{
    int64_t cost = 0;
    bool in_hbm = true;
    for (int k = 0; k < x->use_count[t]; k++) {
        const struct oracle_use *u = &x->uses[t][k];
        bool before = k > 0 && kept >> (k - 1) & 1, after = kept >> k & 1;
        if (u->reads && !before) {
            if (!in_hbm) cost += x->whole[t], in_hbm = true;
            cost += after || alone >> k & 1 ? x->whole[t] : u->bytes;
        }
        if (u->writes) {
            if (!after) cost += u->bytes;
            in_hbm = !after;
        }
    }
    return cost + (x->output[t] && !in_hbm ? x->whole[t] : 0);
}

static int oracle_stays(const struct oracle *x, struct oracle_stay *out)
{
    int count = 0;
    for (int t = 0; t < x->tensors; t++)
        for (int k = 0; k < x->use_count[t]; k++) {
            if (x->alone[t] >> k & 1)
                out[count++] = (struct oracle_stay){.tensor = t,
                                                    .first = x->uses[t][k].tick,
                                                    .last = x->uses[t][k].tick,
                                                    .size = x->size[t],
                                                    .over = -1};
            if (!(x->kept[t] >> k & 1)) continue;
            if (k > 0 && x->kept[t] >> (k - 1) & 1)
                out[count - 1].last = x->uses[t][k + 1].tick;
            else
                out[count++] = (struct oracle_stay){.tensor = t,
                                                    .first = x->uses[t][k].tick,
                                                    .last = x->uses[t][k + 1].tick,
                                                    .size = x->size[t],
                                                    .over = -1};
        }
    return count;
}

static bool oracle_load_fits(const struct oracle *x, const struct oracle_stay *s, int count)
{
    for (int tick = 0; tick < x->ops; tick++) {
        int64_t load = 0;
        for (int i = 0; i < count; i++)
            if (s[i].first <= tick && tick <= s[i].last && !(s[i].over >= 0 && tick == s[i].first))
                load += s[i].size;
        if (load > x->capacity) return false;
    }
    return true;
}

static int oracle_root(const struct oracle_stay *s, int i)
{
    while (s[i].over >= 0) i = s[i].over;
    return i;
}

/* The lowest place of the block of stay `root` above those that are placed. */
static int64_t oracle_lowest(const struct oracle_stay *s, int count, int root)
{
    int64_t low = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; oracle_root(s, i) == root && k < count; k++)
            if (s[k].address >= 0 && s[k].first <= s[i].last && s[i].first <= s[k].last &&
                s[k].address + s[k].size > low)
                low = s[k].address + s[k].size;
    return low;
}

static void oracle_set(struct oracle_stay *s, int count, int root, int64_t address)
{
    for (int i = 0; i < count; i++)
        if (oracle_root(s, i) == root) s[i].address = address;
}

/* In order of rising addresses each block lies as low as it can. */
static bool oracle_pack(const struct oracle *x, struct oracle_stay *s, int count, int64_t last)
{
    bool all = true;
    for (int i = 0; i < count; i++) {
        if (s[i].over >= 0 || s[i].address >= 0) continue;
        all = false;
        int64_t low = oracle_lowest(s, count, i), high = 0;
        for (int k = 0; k < count; k++)
            if (oracle_root(s, k) == i && low + s[k].size > high) high = low + s[k].size;
        if (low < last || high > x->capacity) continue;
        oracle_set(s, count, i, low);
        if (oracle_pack(x, s, count, low)) return true;
        oracle_set(s, count, i, -1);
    }
    return all;
}

/* Every way of taking places over. */
static bool oracle_fits(const struct oracle *x, struct oracle_stay *s, int count, int i)
{
    if (i == count) {
        if (!oracle_load_fits(x, s, count)) return false;
        for (int k = 0; k < count; k++) s[k].address = -1;
        return x->moves || oracle_pack(x, s, count, 0);
    }
    int o = x->order[s[i].first];
    bool written = x->operands[o][x->operand_count[o] - 1] == s[i].tensor;
    for (int k = 0; written && k < count; k++) {
        bool may = false;
        for (int n = 0; n + 1 < x->operand_count[o]; n++)
            may |= x->operands[o][n] == s[k].tensor && x->over[o][n];
        if (!may || s[k].last != s[i].first || s[k].given || s[k].size < s[i].size) continue;
        s[i].over = k;
        s[k].given = true;
        if (oracle_fits(x, s, count, i + 1)) return true;
        s[i].over = -1;
        s[k].given = false;
    }
    return oracle_fits(x, s, count, i + 1);
}

/* The uses that may be loaded for themselves. */
static unsigned oracle_alone(const struct oracle *x, int t, unsigned kept)
{
    unsigned alone = 0;
    for (int k = 0; k < x->use_count[t]; k++)
        if (x->uses[t][k].reads && x->uses[t][k].bytes > x->whole[t] && !(kept >> k & 1) &&
            !(k > 0 && kept >> (k - 1) & 1))
            alone |= 1u << k;
    return alone;
}

static void oracle_choose(struct oracle *x, int t, int64_t cost)
{
    if (cost >= x->best) return;
    if (t == x->tensors) {
        struct oracle_stay stays[ORACLE_STAYS * 4];
        int count = oracle_stays(x, stays);
        if (oracle_fits(x, stays, count, 0)) x->best = cost;
        return;
    }
    unsigned all = x->use_count[t] > 1 ? (1u << (x->use_count[t] - 1)) - 1 : 0;
    for (unsigned kept = 0; kept <= all; kept++) {
        if ((!x->cuts && kept != 0 && kept != all) || (kept && x->size[t] > x->capacity)) continue;
        x->kept[t] = kept;
        x->alone[t] = 0;
        oracle_choose(x, t + 1, cost + oracle_cost(x, t, kept, 0));
        unsigned alone = oracle_alone(x, t, kept);
        if (!alone || (!x->cuts && all) || x->size[t] > x->capacity) continue;
        for (unsigned some = alone; some; some = (some - 1) & alone) {
            x->alone[t] = some;
            oracle_choose(x, t + 1, cost + oracle_cost(x, t, kept, some));
        }
    }
}

static bool oracle_ready(const struct oracle *x, int o, unsigned done)
{
    for (int i = 0; i + 1 < x->operand_count[o]; i++)
        for (int w = 0; w < x->ops; w++)
            if (x->operands[w][x->operand_count[w] - 1] == x->operands[o][i] && !(done >> w & 1))
                return false;
    return true;
}

static void oracle_orders(struct oracle *x, int tick, unsigned done)
{
    if (tick == x->ops) {
        oracle_list_uses(x);
        oracle_choose(x, 0, 0);
    }
    for (int o = 0; o < x->ops; o++) {
        if (done >> o & 1 || !oracle_ready(x, o, done)) continue;
        x->order[tick] = o;
        oracle_orders(x, tick + 1, done | 1u << o);
    }
}

int64_t oracle_least(struct oracle *x, bool any_order, int64_t below)
{
    x->best = below;
    for (int o = 0; o < x->ops; o++) x->order[o] = o;
    if (any_order)
        oracle_orders(x, 0, 0);
    else {
        oracle_list_uses(x);
        oracle_choose(x, 0, 0);
    }
    return x->best;
}
