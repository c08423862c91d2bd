/* Reading equations: "bij,bjk->bik", "...ij,...jk->...ik", and "ij,jk", whose result has the letters that stand once. */
#include "model/onnx_einsum.h"

#include <ctype.h>
#include <string.h>

static bool add(struct einsum_term *t, char letter)
{
    if (t->count == EINSUM_LETTERS) return false;
    t->letter[t->count++] = letter;
    return true;
}

/* Letters and at most one run of dots, up to a comma, an arrow or the end; `dots` are the dimensions it stands for, -1: as
 * many as the rank leaves. *had: there were dots. */
static bool read_term(const char **text, int rank, int dots, struct einsum_term *t, bool *had)
{
    const char *end = *text;
    int letters = 0;
    *had = false;
    while (isalpha((unsigned char)*end) || *end == ' ' || *end == '.')
        letters += isalpha((unsigned char)*end++) != 0;
    if (dots < 0) dots = rank - letters;
    for (const char *p = *text; p < end; p++) {
        if (*p == ' ') continue;
        if (*p == '.') {
            if (*had || strncmp(p, "...", 3) != 0 || dots < 0) return false;
            *had = true;
            for (int i = dots; i > 0; i--)
                if (!add(t, (char)i)) return false;
            p += 2;
        } else if (!add(t, *p))
            return false;
    }
    *text = end;
    return true;
}

static int times(const struct einsum *e, char letter)
{
    int n = 0;
    for (int i = 0; i < e->count; i++)
        for (int k = 0; k < e->in[i].count; k++) n += e->in[i].letter[k] == letter;
    return n;
}

/* Dimensions of the dots, then letters that stand once, in their order. */
static bool implied(struct einsum *e, int dots)
{
    for (int i = dots; i > 0; i--)
        if (!add(&e->out, (char)i)) return false;
    for (int c = 'A'; c <= 'z'; c++)
        if (isalpha(c) && times(e, (char)c) == 1 && !add(&e->out, (char)c)) return false;
    return true;
}

bool einsum_read(const char *equation, int count, const int *rank, struct einsum *e)
{
    int most = 0;
    bool dots;
    *e = (struct einsum){.count = count};
    if (count < 1 || count > EINSUM_TERMS) return false;
    for (int i = 0; i < count; i++) {
        if (i > 0 && *equation++ != ',') return false;
        if (!read_term(&equation, rank[i], -1, &e->in[i], &dots) || e->in[i].count != rank[i]) return false;
        for (int k = 0; k < rank[i]; k++)
            if (e->in[i].letter[k] <= EINSUM_LETTERS && e->in[i].letter[k] > most) most = e->in[i].letter[k];
    }
    if (!*equation) return implied(e, most);
    if (strncmp(equation, "->", 2) != 0) return false;
    equation += 2;
    if (!read_term(&equation, 0, most, &e->out, &dots) || *equation) return false;
    for (int i = 0; i < e->out.count; i++) {
        const char *again = strchr(e->out.letter + i + 1, e->out.letter[i]);
        if (again || times(e, e->out.letter[i]) == 0) return false;
    }
    return true;
}
