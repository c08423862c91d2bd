/* Letters of an op: each piece of its dimensions has one, and an operand has the letters of the pieces that
 * its storage has, in the storage's order. At most LX_MAX_VARS letters; pieces that do not match end in false,
 * and the op is generic. */
#include "import/map/import.h"

#include <string.h>

char import_new_letter(struct letters *l)
{
    if (l->count == LX_MAX_VARS) return 0;
    char letter = (char)(l->count < 26 ? 'a' + l->count : 'A' + l->count - 26);
    l->count++;
    return letter;
}

/* The letter of the piece of dimension d that begins at `at`; 0: it does not have that extent. */
static char letter_of(const struct sketch *s, struct letters *l, int d, int64_t at, int64_t extent)
{
    const struct cuts *c = &l->cuts[d];
    int j = 0;
    while (j + 2 < c->count && c->at[j] < at) j++;
    bool own = (s->apart >> d & 1) && j + 2 == c->count; /* operands have extents of their own */
    if (c->at[j] != at || (!own && c->at[j + 1] / c->at[j] != extent)) return 0;
    if (!l->letter[d][j]) l->letter[d][j] = import_new_letter(l);
    return l->letter[d][j];
}

/* The share of an operand in a piece of its storage. */
struct piece {
    char letter; /* 0: nothing of the op's */
    int64_t offset, step, count;
    bool part; /* not all of it */
};

/* The digits that an atom's part has of the `extent` digits from place `at` of the atom on. */
static void letter_part_of_piece(const struct atom *a, int64_t at, int64_t extent, struct piece *p)
{
    p->step = 1;
    if (!a->span) {
        p->count = extent;
        return;
    }
    if (a->step != 1) {
        *p = (struct piece){0, a->offset, a->step, at == 1 && extent == a->span ? a->extent : 0, true};
        return;
    }
    bool all = a->offset % (at * extent) == 0 && a->extent % (at * extent) == 0;
    bool some = a->offset % at == 0 && a->extent % at == 0;
    p->part = !all;
    p->offset = all ? 0 : a->offset / at % extent;
    p->count = all ? extent : some ? a->extent / at : 1;
    if (p->offset + p->count > extent) p->count = 0;
}

static struct piece letter_piece_at(const struct sketch *s, struct letters *l, const struct sketch_operand *o,
                                    int64_t low, int64_t extent)
{
    struct piece p = {.step = 1};
    for (int i = 0; i < o->view.fixed_count; i++) {
        struct atom a = o->view.fixed[i];
        if (low < a.low || low >= atom_end(&a)) continue;
        p = (struct piece){import_new_letter(l), a.offset / (low / a.low) % extent, 1, 1, true};
        return p;
    }
    for (int d = 0; d < s->rank; d++) {
        int64_t base = 1;
        for (int k = o->view.first[d + 1] - 1; k >= o->view.first[d]; k--) {
            const struct atom *a = &o->view.atom[k];
            if (a->low > 0 && low >= a->low && low < atom_end(a)) {
                letter_part_of_piece(a, low / a->low, extent, &p);
                bool one = p.part && p.count == 1;
                if (p.count > 0)
                    p.letter =
                        one ? import_new_letter(l) : letter_of(s, l, d, base * (low / a->low), p.count);
                return p;
            }
            base *= a->extent;
        }
    }
    return p;
}

/* One element has no letter. */
static bool letter_name_pieces(const struct import *im, const struct sketch *s, struct letters *l,
                               struct boxes *b, struct text *t)
{
    for (int d = 0; d < s->rank; d++) {
        cuts_whole(&l->cuts[d], s->extent[d]);
        for (int i = 0; i <= s->input_count; i++)
            if (!import_cuts_of(im, &s->operand[i], d, &l->cuts[d])) return false;
    }
    for (int i = 0; i <= s->input_count; i++) {
        const struct sketch_operand *o = &s->operand[i];
        const struct cuts *c = &im->storages.at[o->storage].cuts;
        if (i > 0) text_add(t, i == s->input_count ? "->" : ",");
        for (int k = c->count - 2, d = 0; k >= 0; k--, d++) {
            struct piece p = letter_piece_at(s, l, o, c->at[k], c->at[k + 1] / c->at[k]);
            if (!p.letter || d == LX_MAX_RANK) return false;
            text_add(t, (char[]){p.letter, 0});
            b->offset[i][d] = p.offset;
            b->step[i][d] = p.step;
            b->count[i][d] = p.count;
            b->part[i] |= p.part;
            b->any |= p.part;
            if (p.part && p.count == 1) strncat(b->fixed, &p.letter, 1);
        }
    }
    return true;
}

/* Small letters before capitals, as they are given out. */
static int letter_rank(char letter)
{
    return letter >= 'a' ? letter - 'a' : letter - 'A' + 26;
}

/* Terms are added in the order of letters. That is to be the order of the op's dimensions, the most
 * significant piece first, so that a sum does not depend on how its operands are stored: the letters that the
 * result lacks change places among themselves. */
bool import_index_string(const struct import *im, const struct sketch *s, struct letters *l, struct boxes *b,
                         struct text *t)
{
    char *list[VIEW_MAX_RANK * VIEW_MAX_CUTS], sorted[VIEW_MAX_RANK * VIEW_MAX_CUTS], turned[128];
    int count = 0;
    if (!letter_name_pieces(im, s, l, b, t)) return false;
    const char *result = strstr(t->at, "->");
    for (int d = 0; d < s->rank; d++)
        for (int j = l->cuts[d].count - 2; j >= 0; j--)
            if (l->letter[d][j] && !strchr(result, l->letter[d][j])) list[count++] = &l->letter[d][j];
    for (int i = 0; i < 128; i++) turned[i] = (char)i;
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && letter_rank(sorted[at - 1]) > letter_rank(*list[i]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = *list[i];
    }
    for (int i = 0; i < count; i++) turned[(int)*list[i]] = sorted[i];
    for (int i = 0; i < count; i++) *list[i] = sorted[i];
    for (char *at = t->at; *at; at++) *at = turned[(int)*at];
    return true;
}
