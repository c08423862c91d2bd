/* Runs GLPK isolated.
 *
 * GLPK's answer to a fault (memory, an internal check) is to print and abort. Its error hook leaves by
 * longjmp instead, and the environment is freed as a whole, which its manual allows. All state that must
 * survive the jump is in a `session` owned by the caller of the function that calls setjmp. Printing is off,
 * and a terminal hook swallows the error text that GLPK prints all the same, keeping it for the message. */
#include "ilp/ilp_search.h"
#include "ilp/ilp_model.h"

struct session {
    const struct items *it;
    const int64_t *known;
    const struct ilp_limits *limits;
    struct ilp_result *result;
    struct ilp_model model;
    double *first; /* column values of the known placement */
    bool stopped;
    bool relaxed;
    int64_t ceiling;
    jmp_buf escape;
};

static int swallow(void *info, const char *text)
{
    struct session *s = info;
    size_t have = strlen(s->result->text), length = strcspn(text, "\n");
    if (length > sizeof s->result->text - 1 - have) length = sizeof s->result->text - 1 - have;
    memcpy(s->result->text + have, text, length);
    s->result->text[have + length] = 0;
    return 1;
}

static void jump_out(void *info)
{
    struct session *s = info;
    longjmp(s->escape, 1);
}

static int milliseconds_left(const struct ilp_limits *l)
{
    if (l->run->time_limit <= 0) return INT32_MAX;
    double seconds = l->run->time_limit - (clock_seconds() - l->began);
    return seconds < 0 ? 0 : seconds > 1e6 ? INT32_MAX : (int)(seconds * 1000);
}

static void look_at_tree(glp_tree *tree, void *info)
{
    struct session *s = info;
    struct ilp_result *r = s->result;
    int total = 0, best = glp_ios_best_node(tree);
    glp_ios_tree_size(tree, NULL, NULL, &total);
    r->nodes = total;
    r->effort = (int64_t)glp_get_it_cnt(s->model.lp) * s->model.rows;
    /* Before the root is solved, GLPK's bound is the caller's LP bound or -DBL_MAX. */
    if (best != 0 && glp_ios_node_bound(tree, best) > -1e300) {
        r->bound = glp_ios_node_bound(tree, best);
        r->has_bound = true;
    }
    if (glp_ios_reason(tree) == GLP_IHEUR && s->first) {
        glp_ios_heur_sol(tree, s->first);
        mem_free(s->first);
        s->first = NULL;
    }
    bool enough = s->it->problem->objective == LX_FIT && glp_ios_reason(tree) == GLP_IBINGO;
    if (total > s->limits->nodes || r->effort > s->limits->effort || lx_run_stopped(s->limits->run))
        s->stopped = true;
    if (s->stopped || enough) glp_ios_terminate(tree);
}

/* The LP relaxation, from scratch; false when it decides the matter or fails. GLPK has no callback while it
 * solves one, so it gets a few hundred steps at a time and resumes from its basis; the number of steps does
 * not depend on the clock. */
static bool solve_root(struct session *s)
{
    enum { AT_A_TIME = 400 };
    glp_smcp lp;
    int64_t left = s->limits->effort / (s->model.rows + 1);
    int code;
    glp_init_smcp(&lp);
    lp.msg_lev = GLP_MSG_OFF;
    glp_scale_prob(s->model.lp, GLP_SF_AUTO);
    glp_adv_basis(s->model.lp, 0);
    do {
        lp.tm_lim = milliseconds_left(s->limits);
        lp.it_lim = left < AT_A_TIME ? (int)left : AT_A_TIME;
        left -= lp.it_lim;
        code = glp_simplex(s->model.lp, &lp);
    } while (code == GLP_EITLIM && left > 0 && !lx_run_stopped(s->limits->run));
    s->result->effort = (int64_t)glp_get_it_cnt(s->model.lp) * s->model.rows;
    if (code == 0 && glp_get_status(s->model.lp) == GLP_OPT) return true;
    if (code == 0 && glp_get_status(s->model.lp) == GLP_NOFEAS)
        s->result->outcome = ILP_NONE;
    else
        s->result->outcome = ILP_STOPPED;
    return false;
}

static void search_tree(struct session *s)
{
    struct ilp_result *r = s->result;
    glp_iocp mip;
    glp_init_iocp(&mip);
    mip.msg_lev = GLP_MSG_OFF;
    mip.br_tech = GLP_BR_DTH;
    mip.bt_tech = GLP_BT_BLB;
    mip.tol_int = 1e-6;
    mip.tol_obj = 1e-9;
    mip.tm_lim = milliseconds_left(s->limits);
    mip.gmi_cuts = mip.mir_cuts = mip.cov_cuts = mip.clq_cuts = s->limits->cuts ? GLP_ON : GLP_OFF;
    mip.cb_func = look_at_tree;
    mip.cb_info = s;
    double given = HUGE_VAL;
    if (s->first) {
        given = glp_get_obj_coef(s->model.lp, 0);
        for (int c = 1; c <= s->model.columns; c++) given += glp_get_obj_coef(s->model.lp, c) * s->first[c];
    }
    int code = glp_intopt(s->model.lp, &mip);
    int status = glp_mip_status(s->model.lp);
    bool has = status == GLP_OPT || status == GLP_FEAS;
    if (has && glp_mip_obj_val(s->model.lp) < given - 0.5 * (s->it->problem->objective == LX_SPILL)) {
        const struct ilp_model *m = &s->model;
        for (int32_t i = 0; i < s->it->count; i++) {
            bool on = glp_mip_col_val(m->lp, m->on[i]) > 0.5;
            double at = on && m->x[i] ? glp_mip_col_val(m->lp, m->x[i]) : 0;
            s->result->guess[i] = !on ? NOT_PLACED : (int64_t)llround(at) * m->step[i] * m->grain;
        }
        s->result->found = true;
    }
    if (code == 0 && status == GLP_OPT && !s->stopped) {
        r->outcome = ILP_SOLVED;
        r->bound = glp_mip_obj_val(s->model.lp);
        r->has_bound = true;
    } else if (code == 0 && status == GLP_NOFEAS) {
        r->outcome = ILP_NONE;
    } else if (code == 0 || code == GLP_ESTOP || code == GLP_ETMLIM || code == GLP_EMIPGAP) {
        r->outcome = ILP_STOPPED;
    } else {
        r->outcome = ILP_FAILED;
        snprintf(r->text, sizeof r->text, "glp_intopt returned %d", code);
    }
}

static void build_and_search(struct session *s)
{
    if (!ilp_model_make(&s->model, s->it, s->relaxed, s->ceiling, s->limits->max_rows)) {
        s->result->outcome = ILP_TOO_LARGE;
        return;
    }
    s->result->grain = s->model.grain;
    s->result->cost_unit = s->model.cost_unit;
    s->result->widest = s->model.widest;
    s->result->rows = s->model.rows;
    s->result->binaries = s->model.binaries;
    if (s->known) {
        s->first = mem_alloc(((size_t)s->model.columns + 1) * sizeof *s->first);
        ilp_model_values(&s->model, s->known, s->first);
    }
    if (milliseconds_left(s->limits) == 0 || lx_run_stopped(s->limits->run))
        s->result->outcome = ILP_STOPPED;
    else if (solve_root(s))
        search_tree(s);
}

static void fenced(struct session *s)
{
    if (setjmp(s->escape)) {
        s->result->outcome = strstr(s->result->text, "no memory available") ? ILP_NO_MEMORY : ILP_FAILED;
        s->result->found = s->result->has_bound = false;
        return;
    }
    /* Creates the environment here: elsewhere GLPK would abort without memory, as no hook is set yet. */
    if (glp_init_env() > 1) {
        s->result->outcome = ILP_NO_MEMORY;
        return;
    }
    glp_term_hook(swallow, s);
    glp_term_out(GLP_OFF);
    glp_error_hook(jump_out, s);
    glp_mem_limit(s->limits->memory);
    build_and_search(s);
}

static void environment_free(void *unused)
{
    (void)unused;
    glp_free_env();
}

void ilp_search(const struct items *it, bool relaxed, int64_t ceiling, const int64_t *known,
                const struct ilp_limits *limits, struct ilp_result *result)
{
    struct session s = {
        .it = it, .known = known, .limits = limits, .result = result, .relaxed = relaxed, .ceiling = ceiling};
    *result = (struct ilp_result){.outcome = ILP_FAILED, .guess = result->guess};
    struct deferred environment;
    defer(&environment, environment_free, NULL);
    fenced(&s);
    defer_end(&environment);
    mem_free(s.first);
    ilp_model_free(&s.model);
}
