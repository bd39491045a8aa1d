/* The command line that the training examples share. Not part of the library. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <float.h>
#include <millwright/data.h>
#if defined(EXAMPLES_MPI) /* with libmillwright_mpi */
#include <millwright/mpi.h>
#include <unistd.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct example_options {
    const char *data;
    int64_t epochs, batch;
    uint64_t seed;
    float learning_rate;
    mw_schedule schedule;
    mw_device device;
    const char *checkpoint;
    int64_t save_steps, save_seconds, keep;
    const char *best;
    const char *model;
    bool takes_mpi, mpi; /* whether the example can run as several ranks, and is to */
    int64_t threads;
} example_options;

static const char options_usage[] =
    "usage: %s [options]\n"
    "  --data PATH         what is learned from: a folder of IDX files, or a text (%s)\n"
    "  --epochs N          (%lld)\n"
    "  --batch N           examples in a step (%lld)\n"
    "  --seed N            of the weights and the order of the examples (%llu)\n"
    "  --lr X              learning rate, at its peak (%g)\n"
    "  --schedule NAME     constant, linear, cosine or one-cycle\n"
    "  --device NAME       cpu or ane; off a Mac, ane is the fp16 model of it\n"
    "  --checkpoint FILE   saved each epoch, on Ctrl-C and SIGTERM; resumed if it is there\n"
    "  --save-steps N      the checkpoint also every N steps\n"
    "  --save-seconds N    .. and every N seconds\n"
    "  --keep N            the last N saves stay as FILE.step-<step>, before the ending\n"
    "  --best NAME         the best epoch stays as FILE.best: by loss, or a metric (the highest)\n"
    "  --model DIR         where model.mil is written, or read by what tunes one\n"
    "  --threads N         of a process (its share of the processors)\n"
    "  --mpi               one of several processes, each with --batch examples of a step: mpiexec -n 4 PROGRAM "
    "--mpi\n";

/* The index of `value` in `names`, -1 if it is none of them. */
static inline int options_choose(const char *value, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(value, names[i]) == 0)
            return i;
    }
    return -1;
}

/* A whole number of decimal digits and nothing else, from `low` to `high`; what does not fit is refused, not cut. */
static inline bool options_whole(const char *value, uint64_t low, uint64_t high, uint64_t *out)
{
    uint64_t number = 0;
    for (const char *at = value; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || number > (high - (uint64_t)(*at - '0')) / 10)
            return false;
        number = number * 10 + (uint64_t)(*at - '0');
    }
    *out = number;
    return value[0] != '\0' && number >= low;
}

static inline bool options_count(const char *value, int64_t *out)
{
    uint64_t number = 0;
    const bool good = options_whole(value, 1, INT32_MAX, &number);
    *out = (int64_t)number;
    return good;
}

/* A positive number in decimal notation: no blanks, no hexadecimal digits, no "nan" or "inf". */
static inline bool options_positive(const char *value, float *out)
{
    char *end = NULL;
    if (value[0] == '\0' || value[strspn(value, "0123456789.eE+-")] != '\0')
        return false;
    *out = strtof(value, &end);
    return *end == '\0' && *out > 0.0f && *out <= FLT_MAX;
}

static inline bool options_text(const char *value, const char **out)
{
    *out = value;
    return value[0] != '\0';
}

static inline bool options_pick_schedule(const char *value, mw_schedule *out)
{
    static const char *const names[] = {"constant", "linear", "cosine", "one-cycle"};
    const mw_schedule made[] = {mw_schedule_constant(), mw_schedule_linear(0.0), mw_schedule_cosine(0.0),
                                mw_schedule_one_cycle(0.3, 25.0, 1e4)};
    const int picked = options_choose(value, names, 4);
    *out = made[picked >= 0 ? picked : 0];
    return picked >= 0;
}

static inline bool options_set(example_options *out, const char *name, const char *value)
{
    static const char *const devices[] = {"cpu", "ane"};
    if (strcmp(name, "data") == 0)
        return options_text(value, &out->data);
    if (strcmp(name, "checkpoint") == 0)
        return options_text(value, &out->checkpoint);
    if (strcmp(name, "model") == 0)
        return options_text(value, &out->model);
    if (strcmp(name, "best") == 0)
        return options_text(value, &out->best);
    if (strcmp(name, "save-steps") == 0)
        return options_count(value, &out->save_steps);
    if (strcmp(name, "save-seconds") == 0)
        return options_count(value, &out->save_seconds);
    if (strcmp(name, "keep") == 0)
        return options_count(value, &out->keep);
    if (strcmp(name, "epochs") == 0)
        return options_count(value, &out->epochs);
    if (strcmp(name, "batch") == 0)
        return options_count(value, &out->batch);
    if (strcmp(name, "threads") == 0)
        return options_count(value, &out->threads);
    if (strcmp(name, "schedule") == 0)
        return options_pick_schedule(value, &out->schedule);
    if (strcmp(name, "seed") == 0)
        return options_whole(value, 0, UINT64_MAX, &out->seed);
    if (strcmp(name, "lr") == 0)
        return options_positive(value, &out->learning_rate);
    const int picked = strcmp(name, "device") == 0 ? options_choose(value, devices, 2) : -1;
    out->device = picked == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE;
    return picked >= 0;
}

/* What an option takes, for whoever gave it something else. */
static inline const char *options_rule(const char *name)
{
    if (strcmp(name, "seed") == 0)
        return "a whole number from 0 to 18446744073709551615 is wanted";
    if (strcmp(name, "epochs") == 0 || strcmp(name, "batch") == 0 || strcmp(name, "threads") == 0)
        return "a whole number from 1 to 2147483647 is wanted";
    if (strcmp(name, "lr") == 0)
        return "a positive number is wanted, such as 0.001 or 1e-3";
    if (strcmp(name, "data") == 0 || strcmp(name, "checkpoint") == 0 || strcmp(name, "model") == 0)
        return "a path is wanted";
    if (strcmp(name, "schedule") == 0 || strcmp(name, "device") == 0)
        return "one of its names is wanted";
    return "there is no such option";
}

/* Prints how the program is called, and ends it. */
static inline void options_stop(const example_options *defaults, const char *program, bool good)
{
    fprintf(good ? stdout : stderr, options_usage, program, defaults->data, (long long)defaults->epochs,
            (long long)defaults->batch, (unsigned long long)defaults->seed, (double)defaults->learning_rate);
    exit(good ? 0 : 2);
}

/* Takes --name value and --name=value. Exits with 2 on anything else, with 0 after --help. */
static inline void options_parse(example_options *out, int argc, char **argv)
{
    const example_options defaults = *out;
    for (int i = 1; i < argc; i++) {
        char name[16] = "";
        const char *option = argv[i];
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0)
            options_stop(&defaults, argv[0], true);
        if (strcmp(option, "--mpi") == 0 && out->takes_mpi) {
            out->mpi = true;
            continue;
        }
        const bool named = strncmp(option, "--", 2) == 0;
        const size_t length = named ? strcspn(option + 2, "=") : 0;
        const bool joined = named && option[2 + length] == '=';
        const char *value = joined ? option + 2 + length + 1 : named && i + 1 < argc ? argv[++i] : NULL;
        if (length < sizeof name)
            memcpy(name, option + 2, length);
        if (value != NULL && options_set(out, name, value))
            continue;
        fprintf(stderr, "cannot use %s%s%s: %s\n", option, value != NULL && !joined ? " " : "",
                value != NULL && !joined ? value : "", options_rule(name));
        options_stop(&defaults, argv[0], false);
    }
}

#if defined(EXAMPLES_MPI)
/* What each of the ranks of one machine has of its processors. */
static inline int64_t options_share(void)
{
    MPI_Comm machine;
    int ranks = 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &ranks);
    MPI_Comm_free(&machine);
    const long share = sysconf(_SC_NPROCESSORS_ONLN) / ranks;
    return share > 1 ? share : 1;
}
#endif

/* The number of this process among the ranks; 0 if it is alone. */
static inline int options_rank(const mw_communicator *ranks)
{
#if defined(EXAMPLES_MPI)
    return mw_communicator_get_info(ranks).rank;
#else
    (void)ranks;
    return 0;
#endif
}

/* The ranks that --mpi asks for, of which the first speaks for all; NULL without it. */
static inline mw_communicator *options_ranks(example_options *o, int *argc, char ***argv, mw_error *err)
{
    mw_communicator *ranks = NULL;
    if (!o->mpi || err->status != MW_OK)
        return NULL;
#if defined(EXAMPLES_MPI)
    ranks = mw_mpi_start(argc, argv, err);
    if (ranks != NULL && o->threads == 0)
        o->threads = options_share();
#else
    (void)argc, (void)argv;
    err->status = MW_ERROR_UNSUPPORTED;
    snprintf(
        err->message, sizeof err->message,
        "--mpi needs libmillwright_mpi, which is built where an MPI is found: install openmpi-bin and libopenmpi-dev "
        "(Debian; mpich and libmpich-dev will do, too) or open-mpi (Homebrew), and build Millwright again");
#endif
    if (options_rank(ranks) > 0 && freopen("/dev/null", "w", stdout) == NULL)
        fprintf(stderr, "rank %d cannot be made silent\n", options_rank(ranks));
    return ranks;
}

/* What a signal leaves behind where no checkpoint was asked for. */
static inline void options_keep_weights(mw_trainer *trainer)
{
    mw_error err = {0};
    if (mw_trainer_save_weights(trainer, "stopped.safetensors", &err) == MW_OK)
        fprintf(stderr, "the weights so far are in stopped.safetensors; with --checkpoint FILE a run can go on\n");
    else
        fprintf(stderr, "%s\n", err.message);
}

/* When checkpoints are saved and which stay. */
static inline void options_save(const example_options *o, mw_fit_options *fit)
{
    fit->checkpoint.path = o->checkpoint;
    fit->checkpoint.steps = o->save_steps;
    fit->checkpoint.seconds = (double)o->save_seconds;
    fit->checkpoint.keep_last = (int)o->keep;
    fit->stopping.best_by = o->best;
    fit->stopping.best_highest = o->best != NULL && strcmp(o->best, "loss") != 0;
}

/* Epochs of training as the command line asks, with a look at the validation set after each. */
static inline void options_fit(const example_options *o, mw_trainer *trainer, const mw_dataset *training,
                               const mw_dataset *validation, mw_error *err)
{
    mw_fit_options fit = mw_fit_defaults(training, o->epochs);
    fit.data.validation = validation;
    fit.schedule.rate = o->schedule;
    fit.data.seed = o->seed;
    options_save(o, &fit);
    if (mw_trainer_fit(trainer, &fit, err) == MW_ERROR_STOPPED && o->checkpoint == NULL)
        options_keep_weights(trainer);
}

/* Where it ran, what crossed the host boundary, and how good it is; `what` names the metric, if there is one. */
static inline void options_report(mw_trainer *trainer, const mw_dataset *test, const char *what, mw_error *err)
{
    mw_evaluation found;
    const mw_trainer_counters before = mw_trainer_get_info(trainer).counters;
    if (mw_trainer_evaluate(trainer, test, NULL, &found, err) != MW_OK)
        return;
    printf("trained on %s\n%lld steps; state moved to the device %llu bytes, back %llu\n",
           mw_program_get_info(mw_trainer_program(trainer)).where, (long long)before.steps,
           (unsigned long long)before.state_bytes_in, (unsigned long long)before.state_bytes_out);
    printf("test loss %.6g\n", found.loss);
    if (what != NULL)
        printf("%s %.2f %%\n", what, 100.0 * found.metrics[0].value);
}

/* Prints the error, if there is one. 128 + signal is what shells say of a program that a signal ended. */
static inline int options_exit_code(const mw_error *err)
{
    if (err->status == MW_OK)
        return 0;
    fprintf(stderr, "%s\n", err->message);
    return err->status == MW_ERROR_STOPPED ? 128 + mw_fit_signal() : 1;
}

/* The same, and the end of the ranks, if there are any: what went wrong is said first, as all end with the first. */
static inline int options_end(mw_communicator *ranks, mw_error *err)
{
    const int code = options_exit_code(err);
#if defined(EXAMPLES_MPI)
    if (ranks != NULL && mw_communicator_finish(ranks, err) != MW_OK && code == 0)
        return options_exit_code(err);
#else
    (void)ranks;
#endif
    return code;
}

#endif
