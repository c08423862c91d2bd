/* The building of the integer programme, shared by its two files only. */
#ifndef LX_SOLVERS_ILP_ILP_BUILD_H
#define LX_SOLVERS_ILP_ILP_BUILD_H

#include "ilp/ilp_model.h"

struct ilp_build {
    struct ilp_model *m;
    int64_t max_rows;
    bool ok, too_large;
};

int ilp_add_column(struct ilp_build *b, int kind, double low, double high);
int ilp_add_row(struct ilp_build *b, int type, double low, double high);
/* Column 0 stands for none. */
void ilp_add_term(struct ilp_build *b, int row, int column, int64_t value);

/* ilp_links.c: who is linked, the gcd of what charges cost, their columns and rows, and their values. */
void ilp_find_links(struct ilp_model *m);
int64_t ilp_charge_unit(const struct ilp_model *m);
void ilp_add_links(struct ilp_build *b);
void ilp_link_values(const struct ilp_model *m, const int64_t *base, double *value);

#endif
