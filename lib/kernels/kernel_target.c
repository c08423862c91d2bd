/* The list of targets, best first. */
#include "kernels/kernel_target.h"

static const struct kernel_target *const targets[] = {
#ifdef __x86_64__
    &kernel_target_avx512,
    &kernel_target_avx2,
#endif
    &kernel_target_vector128,
    &kernel_target_portable,
};
enum { TARGETS = sizeof targets / sizeof *targets };

const struct kernel_target *kernel_target_at(int i)
{
    for (int t = 0; t < TARGETS; t++)
        if (targets[t]->supported() && i-- == 0) return targets[t];
    return NULL;
}

const struct kernel_target *kernel_target_best(void)
{
    return kernel_target_at(0);
}

const char *kernel_target_name(const struct kernel_target *t)
{
    return t->name;
}

int kernel_target_near_floats(const struct kernel_target *t)
{
    return t->near_floats;
}
