/* The launches of a plan. */
#include "check/check.h"

bool check_launches(const struct checker *c)
{
    (void)c;
    return true;
}
