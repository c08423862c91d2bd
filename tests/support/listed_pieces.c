#include "support/listed_pieces.h"

int64_t all_points(const struct op_index *x)
{
    int64_t n = 1;
    for (int v = 0; v < x->var_count && n <= (int64_t)1 << 40; v++) n *= x->extent[v];
    return n;
}

/* Adds one for every point of the iteration space that a piece has: variables as digits, the first slowest. */
static void mark_piece(const struct op_index *x, const struct lx_launch_piece *piece, unsigned char *seen)
{
    int64_t at[LX_MAX_VARS];
    for (int v = 0; v < x->var_count; v++) {
        at[v] = piece->from[v];
        if (piece->from[v] >= piece->to[v]) return;
    }
    for (;;) {
        int64_t n = 0;
        int v = x->var_count - 1;
        for (int i = 0; i < x->var_count; i++) n = n * x->extent[i] + at[i];
        if (seen[n] < 255) seen[n]++;
        for (; v >= 0 && ++at[v] == piece->to[v]; v--) at[v] = piece->from[v];
        if (v < 0) return;
    }
}

bool listed_once(const struct lx_op_launch *o, const struct op_index *x, int64_t cores)
{
    int64_t n = all_points(x);
    unsigned char *seen = mem_zeroed((size_t)n, 1);
    bool ok = seen != NULL;
    for (int64_t c = 0; ok && c < cores; c++)
        for (int64_t t = 0; ok && t < lx_op_launch_turns(o, c); t++) {
            struct lx_launch_piece piece;
            ok = lx_op_launch_piece(o, x, c, t, &piece);
            for (int v = 0; ok && v < x->var_count; v++)
                ok = piece.from[v] >= 0 && piece.from[v] <= piece.to[v] && piece.to[v] <= x->extent[v];
            if (ok) mark_piece(x, &piece, seen);
        }
    for (int64_t i = 0; ok && i < n; i++) ok = seen[i] == 1;
    mem_free(seen);
    return ok;
}

bool inside_slices(const struct lx_op_launch *o, const struct op_index *x, const struct lx_division *d)
{
    for (int64_t c = 0; c < d->cores_used; c++)
        for (int64_t t = 0; t < lx_op_launch_turns(o, c); t++) {
            struct lx_launch_piece piece;
            if (!lx_op_launch_piece(o, x, c, t, &piece)) return false;
            for (int i = 0; i < d->split_count; i++) {
                int64_t from, to;
                int v = 0;
                while (x->letter[v] != d->splits[i].letter) v++;
                lx_division_slice(d, i, c, &from, &to);
                if (piece.from[v] < from || piece.to[v] > to) return false;
            }
        }
    return true;
}
