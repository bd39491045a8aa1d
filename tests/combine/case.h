/* A case: a net and a set of options, run and judged. */
#ifndef TESTS_COMBINE_CASE_H
#define TESTS_COMBINE_CASE_H

#include "options.h"

enum { CASE_VALUES = 16384, CASE_SECTIONS = 160, CASE_BATCHES = 4, CASE_WHY = 1024 };

/* What a run left: values under names. */
typedef struct outcome {
    int count, used;
    struct outcome_section {
        char name[64];
        int first, count;
    } sections[CASE_SECTIONS];
    float values[CASE_VALUES];
    mw_error err;
} outcome;

/* Room for `count` values under a name, in which dots count as underscores, as texts of MIL have none. */
float *outcome_add(outcome *out, const char *name, size_t count);
const float *outcome_find(const outcome *of, const char *name, size_t *out_count);
/* True if what both have agrees; else `why` says where not. */
bool outcome_agrees(const outcome *plain, const outcome *other, const allowance *allowed, char why[CASE_WHY]);

/* Trains the net as the options say. */
typedef struct run {
    const net *n;
    option_set set;
    bool plain; /* with nothing that leaves the values, one operation at a time */
    outcome *out;
    mw_graph *source, *graph; /* the copy that is trained; `source` is NULL where there is none */
    mw_tensor *loss, *z;
    mw_trainer *trainer, *second;
    mw_trainer_options options;
    mw_parameter_group groups[3];
} run;
void run_case(const net *n, option_set set, bool plain, outcome *out);

/* Parts of it. */
void run_make_graph(run *r);
/* Shapes of the inputs for so many examples; returns how many there are. */
size_t run_shapes(const net *n, int examples, mw_input_shape out[2]);
void run_predict_written(run *r);
mw_compile_options run_compile_options(option_set set);

/* The checks of a net alone. True if it holds or is refused with an error in *err. */
bool check_native(const net *n, mw_error *err, char why[CASE_WHY]);
bool check_gradient(const net *n, mw_error *err, char why[CASE_WHY]);
bool check_second(const net *n, mw_error *err, char why[CASE_WHY]);
/* That values of the plain run with an option are what the option says. */
bool check_meaning(const net *n, option_set set, const outcome *plain, char why[CASE_WHY]);

typedef enum verdict { CASE_RIGHT, CASE_REFUSED, CASE_UNFIT, CASE_KNOWN, CASE_WRONG } verdict;
/* The fault of the library that a case shows, which is known and not mended yet; NULL for most. */
const char *case_known(const net *n, option_set set);

/* Judges one case. A plain run that is given is used and kept up to date. */
typedef struct plain_run {
    bool made, means; /* what its options say was checked */
    net n;
    option_set set;
    outcome out;
} plain_run;
verdict case_judge(const net *n, option_set set, plain_run *plain, char why[CASE_WHY]);

/* The smallest case that it finds to be wrong like this one. */
void case_shrink(net *n, option_set *set, const char *why);

#endif
