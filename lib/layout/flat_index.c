/* Flat index to coordinates. A variable with coefficient a and R values starts in the dimension with the
 * largest stride <= a and reaches every dimension with a stride below a*R. In each it contributes
 * floor(a*v / stride), after a modulus by the next larger stride. Constants go to the largest stride
 * first. */
#include "layout/flat_index.h"

bool access_coordinates(int rank, const int64_t *size, const int64_t *stride, const struct index_term *index,
                        int count, int64_t constant, struct coordinate *out, lx_status *st)
{
    memset(out, 0, (size_t)rank * sizeof *out);
    if (constant < 0)
        return status_set(st, LX_E_UNSUPPORTED, "an index begins %lld elements before its tensor",
                          (long long)-constant);
    for (int i = 0; i < count; i++) {
        const struct index_term *t = &index[i];
        if (t->coefficient < 0)
            return status_set(st, LX_E_UNSUPPORTED,
                              "variable %d walks a dimension backwards (coefficient %lld); only "
                              "ascending walks can be planned, copy the tensor first",
                              t->var, (long long)t->coefficient);
        if (t->coefficient == 0 || t->range <= 1) continue;
        int primary = -1;
        for (int d = 0; d < rank; d++)
            if (size[d] > 1 && stride[d] > 0 && stride[d] <= t->coefficient &&
                (primary < 0 || stride[d] > stride[primary]))
                primary = d;
        for (int d = 0; d < rank; d++) {
            bool reached = size[d] > 1 && stride[d] > t->coefficient &&
                           (stride[d] - 1) / t->coefficient < t->range &&
                           stride[d] < t->coefficient * t->range;
            if (d != primary && !reached) continue;
            int64_t reach, next = 0; /* the next larger stride of a dimension with more than one element */
            for (int k = 0; k < rank; k++)
                if (size[k] > 1 && stride[k] > stride[d] && (next == 0 || stride[k] < next)) next = stride[k];
            if (__builtin_mul_overflow(t->coefficient, t->range, &reach))
                return status_set(st, LX_E_RANGE, "an index term reaches beyond 2^63");
            struct coordinate *c = &out[d];
            if (c->term_count == MAX_COORDINATE_TERMS)
                return status_set(st, LX_E_UNSUPPORTED, "more than %d variables walk one dimension",
                                  MAX_COORDINATE_TERMS);
            c->terms[c->term_count++] = (struct coordinate_term){.var = t->var,
                                                                 .scale = t->coefficient,
                                                                 .wrap = t->wrap,
                                                                 .mod = next > 0 && reach > next ? next : 0,
                                                                 .divisor = stride[d]};
        }
    }
    /* Divides the constant greedily, from the largest stride down. */
    int64_t below = INT64_MAX;
    while (constant > 0) {
        int best = -1;
        for (int d = 0; d < rank; d++)
            if (size[d] > 1 && stride[d] > 0 && stride[d] < below && (best < 0 || stride[d] > stride[best]))
                best = d;
        if (best < 0) break;
        out[best].constant += constant / stride[best];
        constant %= stride[best];
        below = stride[best];
    }
    return true;
}

static void write_term(const struct coordinate_term *t, const char *name, char *out, size_t size)
{
    int64_t mod = t->mod, divisor = t->divisor, scale = t->scale;
    char inner[96], walk[160];
    if (t->wrap > 0)
        snprintf(inner, sizeof inner, "%.40s%%%lld", name, (long long)t->wrap);
    else
        snprintf(inner, sizeof inner, "%.40s", name);
    /* Moves scale out of the modulus and into the divisor where it divides both. */
    if (mod > 0 && mod % scale == 0 && divisor % scale == 0) {
        mod /= scale, divisor /= scale, scale = 1;
        if (divisor == 1) {
            snprintf(out, size, "%s%%%lld", inner, (long long)mod);
            return;
        }
        snprintf(out, size, "(%s%%%lld)//%lld", inner, (long long)mod, (long long)divisor);
        return;
    }
    if (mod == 0 && scale % divisor == 0) scale /= divisor, divisor = 1;
    if (mod == 0 && divisor % scale == 0) divisor /= scale, scale = 1;
    if (scale != 1)
        snprintf(walk, sizeof walk, t->wrap > 0 ? "%lld*(%s)" : "%lld*%s", (long long)scale, inner);
    else
        snprintf(walk, sizeof walk, "%s", inner);
    if (mod > 0)
        snprintf(out, size, "(%s%%%lld)//%lld", walk, (long long)mod, (long long)divisor);
    else if (divisor != 1)
        snprintf(out, size, "%s//%lld", walk, (long long)divisor);
    else
        snprintf(out, size, "%s", walk);
}

void coordinate_write(const struct coordinate *c, const char *const *names, char *out, size_t size)
{
    size_t n = 0;
    if (size == 0) return;
    out[0] = 0;
    for (int i = 0; i < c->term_count && n < size; i++) {
        char term[200];
        write_term(&c->terms[i], names[c->terms[i].var], term, sizeof term);
        int wrote = snprintf(out + n, size - n, "%s%s", i ? "+" : "", term);
        n += wrote > 0 ? (size_t)wrote : 0;
    }
    if (n < size && (c->constant != 0 || c->term_count == 0))
        snprintf(out + n, size - n, "%s%lld", c->term_count ? "+" : "", (long long)c->constant);
}

bool stick_coordinate_legal(const struct coordinate *c, int64_t stick_elements, bool *needs_restickify)
{
    *needs_restickify = c->constant % stick_elements != 0;
    if (c->term_count == 0) return true;
    const struct coordinate_term *t = &c->terms[0];
    return c->term_count == 1 && t->scale == 1 && t->divisor == 1 &&
           (t->mod == 0 || t->mod == stick_elements) && (t->wrap == 0 || t->wrap % stick_elements == 0);
}

/* From an op's index map through flat indices and the stride map to device coordinates. */

bool operand_coordinates(const struct lx_layouts *l, int32_t op, const struct op_index *x, int operand,
                         struct coordinate *out, lx_status *st)
{
    const struct lx_layout *y = &l->layouts[op_operand(&l->graph->ops[op], operand)];
    struct index_term index[LX_MAX_RANK];
    int64_t constant = 0, step = 1;
    int count = x->rank[operand];
    for (int d = count - 1; d >= 0; d--) {
        int v = x->var[operand][d];
        index[d] = (struct index_term){v, op_index_stride(x, operand, d) * step, x->extent[v], 0};
        constant += op_index_offset(x, operand, d) * step;
        step *= y->host_shape[d];
    }
    return access_coordinates(y->rank, y->size, y->stride_map, index, count, constant, out, st);
}
