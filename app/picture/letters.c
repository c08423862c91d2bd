/* Which letter and colour a buffer has. */
#include "picture/picture.h"

static const char letters[LETTER_COUNT + 1] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

int32_t buffer_identity(const struct lx_plan *p, int32_t buffer)
{
    bool is_stay = p->stays && buffer >= 0 && buffer < p->problem.count;
    return is_stay ? p->stays[buffer].tensor : buffer;
}

char identity_letter(int32_t identity)
{
    return letters[(uint32_t)identity % LETTER_COUNT];
}
