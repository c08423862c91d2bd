/* What each kind of op computes. */
#include "team_run/team_eval.h"
#include "layout/op_index.h"

#include <math.h>
#include <string.h>

static double f_add(const double *v)
{
    return v[0] + v[1];
}
static double f_sub(const double *v)
{
    return v[0] - v[1];
}
static double f_mul(const double *v)
{
    return v[0] * v[1];
}
static double f_div(const double *v)
{
    return v[0] / v[1];
}
static double f_pow(const double *v)
{
    return pow(v[0], v[1]);
}
static double f_max(const double *v)
{
    return v[0] > v[1] ? v[0] : v[1];
}
static double f_min(const double *v)
{
    return v[0] < v[1] ? v[0] : v[1];
}
static double f_neg(const double *v)
{
    return -v[0];
}
static double f_abs(const double *v)
{
    return fabs(v[0]);
}
static double f_exp(const double *v)
{
    return exp(v[0]);
}
static double f_log(const double *v)
{
    return log(v[0]);
}
static double f_sqrt(const double *v)
{
    return sqrt(v[0]);
}
static double f_rsqrt(const double *v)
{
    return 1 / sqrt(v[0]);
}
static double f_reciprocal(const double *v)
{
    return 1 / v[0];
}
static double f_relu(const double *v)
{
    return v[0] > 0 ? v[0] : 0;
}
static double f_sigmoid(const double *v)
{
    return 1 / (1 + exp(-v[0]));
}
static double f_silu(const double *v)
{
    return v[0] / (1 + exp(-v[0]));
}
static double f_tanh(const double *v)
{
    return tanh(v[0]);
}
static double f_greater(const double *v)
{
    return v[0] > v[1];
}
static double f_where(const double *v)
{
    return v[0] != 0 ? v[1] : v[2];
}
static double f_same(const double *v)
{
    return v[0];
}
static double f_gelu(const double *v)
{
    return 0.5 * v[0] * (1 + tanh(0.7978845608028654 * (v[0] + 0.044715 * v[0] * v[0] * v[0])));
}

static const struct team_meaning meanings[] = {
    {"add", f_add, TEAM_SUM},      {"sub", f_sub, TEAM_SUM},
    {"mul", f_mul, TEAM_SUM},      {"div", f_div, TEAM_SUM},
    {"pow", f_pow, TEAM_SUM},      {"max", f_max, TEAM_LARGEST},
    {"min", f_min, TEAM_SMALLEST}, {"sum", NULL, TEAM_SUM},
    {"mean", NULL, TEAM_SUM},      {"neg", f_neg, TEAM_SUM},
    {"abs", f_abs, TEAM_SUM},      {"exp", f_exp, TEAM_SUM},
    {"log", f_log, TEAM_SUM},      {"sqrt", f_sqrt, TEAM_SUM},
    {"rsqrt", f_rsqrt, TEAM_SUM},  {"reciprocal", f_reciprocal, TEAM_SUM},
    {"relu", f_relu, TEAM_SUM},    {"gelu", f_gelu, TEAM_SUM},
    {"silu", f_silu, TEAM_SUM},    {"sigmoid", f_sigmoid, TEAM_SUM},
    {"tanh", f_tanh, TEAM_SUM},    {"greater", f_greater, TEAM_SUM},
    {"where", f_where, TEAM_SUM},  {"clone", f_same, TEAM_SUM},
    {"matmul", f_mul, TEAM_SUM},   {"restickify", f_same, TEAM_SUM},
    {"slice", f_same, TEAM_SUM},   {"shift", f_same, TEAM_SUM},
    {"insert", f_same, TEAM_SUM},
};

const struct team_meaning *team_meaning_of(const struct lx_op *op)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i].kind, op->kind->name) == 0) return &meanings[i];
    return NULL;
}

double team_identity(enum team_way way)
{
    static const double start[] = {[TEAM_SUM] = 0, [TEAM_LARGEST] = -INFINITY, [TEAM_SMALLEST] = INFINITY};
    return start[way];
}

double team_accumulate(enum team_way way, double a, double b)
{
    return way == TEAM_SUM ? a + b : way == TEAM_LARGEST ? (b > a ? b : a) : (b < a ? b : a);
}

double team_divisor(const struct lx_graph *g, const struct lx_op *op)
{
    struct op_index x;
    double count = 1;
    if (strcmp(op->kind->name, "mean") != 0) return count;
    op_index_of(g, op, &x);
    for (int v = 0; v < x.var_count; v++)
        if (op_index_reduced(&x, v)) count *= (double)x.extent[v];
    return count;
}
