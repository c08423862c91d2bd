/* Which letter and colour a buffer has. */
#include "picture/picture.h"

static const char letters[LETTER_COUNT + 1] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

char identity_letter(int32_t identity)
{
    return letters[(uint32_t)identity % LETTER_COUNT];
}
