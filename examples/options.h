/* The command line that the training examples share. Not part of the library. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct example_options {
    const char *data;
    int64_t epochs;
    uint64_t seed;
    float learning_rate;
    mw_schedule schedule;
    mw_device device;
    const char *checkpoint;
} example_options;

static const char options_usage[] = "usage: %s [options]\n"
                                    "  --data DIR          folder of the IDX files (%s)\n"
                                    "  --epochs N          (%lld)\n"
                                    "  --seed N            of the weights and the order of the examples (%llu)\n"
                                    "  --lr X              learning rate, at its peak (%g)\n"
                                    "  --schedule NAME     constant, linear, cosine or one-cycle\n"
                                    "  --device NAME       cpu or ane; off a Mac, ane is the fp16 model of it\n"
                                    "  --checkpoint FILE   saved each epoch and on Ctrl-C, resumed if it is there\n";

/* The index of `value` in `names`, -1 if it is none of them. */
static inline int options_choose(const char *value, const char *const *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(value, names[i]) == 0)
            return i;
    }
    return -1;
}

static inline bool options_set(example_options *out, const char *name, size_t length, const char *value)
{
    static const char *const names[] = {"data", "epochs", "seed", "lr", "schedule", "device", "checkpoint"};
    static const char *const schedules[] = {"constant", "linear", "cosine", "one-cycle"};
    const mw_schedule made[] = {mw_schedule_constant(), mw_schedule_linear(0.0), mw_schedule_cosine(0.0),
                                mw_schedule_one_cycle(0.3, 25.0, 1e4)};
    static const char *const devices[] = {"cpu", "ane"};
    int chosen = -1, picked = 0;
    char *end = NULL;
    for (int i = 0; i < 7; i++) {
        if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
            chosen = i;
    }
    switch (chosen) {
    case 0:
        out->data = value;
        return true;
    case 1:
        out->epochs = strtoll(value, &end, 10);
        return end != value && *end == '\0' && out->epochs > 0;
    case 2:
        out->seed = strtoull(value, &end, 10);
        return end != value && *end == '\0' && value[0] != '-';
    case 3:
        out->learning_rate = strtof(value, &end);
        return end != value && *end == '\0' && out->learning_rate > 0;
    case 4:
        picked = options_choose(value, schedules, 4);
        out->schedule = made[picked >= 0 ? picked : 0];
        return picked >= 0;
    case 5:
        picked = options_choose(value, devices, 2);
        out->device = picked == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE;
        return picked >= 0;
    case 6:
        out->checkpoint = value;
        return true;
    default:
        return false;
    }
}

/* Takes --name value and --name=value. Exits with 2 on anything else, with 0 after --help. */
static inline void options_parse(example_options *out, int argc, char **argv)
{
    const example_options defaults = *out;
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i];
        const bool help = strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0;
        const bool named = !help && strncmp(option, "--", 2) == 0;
        const size_t length = named ? strcspn(option + 2, "=") : 0;
        const bool joined = named && option[2 + length] == '=';
        const char *value = joined ? option + 2 + length + 1 : named && i + 1 < argc ? argv[++i] : NULL;
        if (value != NULL && options_set(out, option + 2, length, value))
            continue;
        FILE *to = help ? stdout : stderr;
        if (!help)
            fprintf(to, "cannot use %s%s%s\n", option, value != NULL && !joined ? " " : "",
                    value != NULL && !joined ? value : "");
        fprintf(to, options_usage, argv[0], defaults.data, (long long)defaults.epochs,
                (unsigned long long)defaults.seed, (double)defaults.learning_rate);
        exit(help ? 0 : 2);
    }
}

/* Prints the error, if there is one. 130 is what shells say of a program that Ctrl-C ended. */
static inline int options_exit_code(const mw_error *err)
{
    if (err->status == MW_OK)
        return 0;
    fprintf(stderr, "%s\n", err->message);
    return err->status == MW_ERROR_STOPPED ? 130 : 1;
}

#endif
