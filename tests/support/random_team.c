#include "support/random_team.h"

static void add_random_tensor(struct text *t, const char *dtype, int n, int64_t rows, int64_t columns)
{
    text_format(t, "%s{\"name\": \"t%d\", \"shape\": [%d, %d], \"dtype\": \"%s\"}", n ? ", " : "", n,
                (int)rows, (int)columns, dtype);
}

static int random_team_op(struct rng *r, enum random_sums sums)
{
    static const int without[] = {0, 1, 2, 4, 5};
    if (sums == NO_SUMS) return without[rng_below(r, 5)];
    return (int)rng_below(r, sums == MEANS ? 7 : 6);
}

char *random_team_pattern(struct rng *r, enum random_sums sums, const char *dtype)
{
    struct text tensors = {0}, ops = {0}, all = {0};
    int64_t rows[24], columns[24];
    int count = 2, writes[24] = {0};
    for (int n = 0; n < 2; n++) {
        rows[n] = rng_between(r, 1, 20);
        columns[n] = rng_between(r, 1, 6);
        add_random_tensor(&tensors, dtype, n, rows[n], columns[n]);
    }
    while (count < 14) {
        int from = (int)rng_below(r, (uint64_t)count), n = count;
        int64_t a = rows[from], b = columns[from];
        text_format(&ops, "%s{\"name\": \"o%d\", ", n > 2 ? ", " : "", n);
        switch (random_team_op(r, sums)) {
        case 0: {
            int64_t o = rng_between(r, 0, a - 1), s = rng_between(r, 1, 3);
            rows[n] = rng_between(r, 1, (a - 1 - o) / s + 1);
            columns[n] = b;
            text_format(
                &ops, "\"kind\": \"slice\", \"inputs\": [\"t%d\"], \"offset\": [%d, 0], \"stride\": [%d, 1]",
                from, (int)o, (int)s);
            break;
        }
        case 1:
            rows[n] = a;
            columns[n] = b;
            text_format(&ops, "\"kind\": \"shift\", \"inputs\": [\"t%d\"], \"offset\": [%d, %d]", from,
                        (int)rng_between(r, -a, a), (int)rng_between(r, -1, 1));
            break;
        case 2:
            rows[n] = b;
            columns[n] = a;
            text_format(&ops, "\"kind\": \"clone\", \"inputs\": [\"t%d\"], \"einsum\": \"mn->nm\"", from);
            break;
        case 3:
            rows[n] = a;
            columns[n] = a;
            text_format(&ops,
                        "\"kind\": \"matmul\", \"inputs\": [\"t%d\", \"t%d\"], \"einsum\": \"mk,nk->mn\"",
                        from, from);
            break;
        case 4:
            rows[n] = a;
            columns[n] = b;
            text_format(&ops, "\"kind\": \"tanh\", \"inputs\": [\"t%d\"]", from);
            break;
        case 6:
            rows[n] = a;
            columns[n] = b;
            text_format(&tensors, ", {\"name\": \"mean%d\", \"shape\": [%d], \"dtype\": \"%s\"}", n, (int)b,
                        dtype);
            text_format(
                &ops,
                "\"kind\": \"mean\", \"inputs\": [\"t%d\"], \"output\": \"mean%d\", \"einsum\": "
                "\"mn->n\"}, {\"name\": \"centre%d\", \"kind\": \"sub\", \"inputs\": [\"t%d\", \"mean%d\"], "
                "\"einsum\": \"mn,n->mn\"",
                from, n, n, from, n);
            break;
        default:
            rows[n] = a;
            columns[n] = b;
            text_format(&ops, "\"kind\": \"add\", \"inputs\": [\"t%d\", \"t%d\"]", from, from);
        }
        text_format(&ops, ", \"output\": \"t%d\"}", n);
        add_random_tensor(&tensors, dtype, n, rows[n], columns[n]);
        count++;
        /* put an earlier tensor into this one */
        int source = (int)rng_below(r, (uint64_t)n);
        if (rows[source] <= rows[n] && columns[source] <= columns[n] && writes[n]++ == 0)
            text_format(&ops,
                        ", {\"name\": \"put%d\", \"kind\": \"insert\", \"inputs\": [\"t%d\"], \"output\": "
                        "\"t%d\", \"offset\": [%d, 0]}",
                        n, source, n, (int)rng_between(r, 0, rows[n] - rows[source]));
    }
    text_format(&all,
                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"r\", \"tensors\": [%s], \"ops\": [%s]}",
                tensors.at, ops.at);
    text_free(&tensors);
    text_free(&ops);
    return all.at;
}
