/* The first step of each example, as one program: what it gives for small numbers. */
#include "library.h"
#include "support/chip/training_programs.h"
#include "support/folder.h"

#include <stdlib.h>
#include <sys/stat.h>

static const char *item(size_t index) { return index < training_example_count ? training_examples[index].name : NULL; }

/* Numbers from 0 to 0.1, that variances and weights may be, and 0 for digits of labels. */
static bool feed(void *user, mw_program *program, mw_error *err)
{
    mw_port port;
    uint32_t state = 1;
    (void)user;
    for (size_t p = 0; mw_program_port_at(program, p, &port) && !port.is_output; p++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        float *values = calloc(count + 1, sizeof *values);
        for (size_t i = 0; values != NULL && i < count && port.dtype == MW_F16; i++) {
            state = state * 1664525u + 1013904223u;
            values[i] = (float)(state >> 16) / 655360.0f;
        }
        if (port.dtype == MW_F16 && values != NULL)
            mw_program_write(program, port.name, MW_F32, values, count, err);
        free(values);
    }
    return err->status == MW_OK;
}

/* The model that is tuned is that of mnist_cnn. */
static void make_model(void)
{
    for (size_t i = 0; i < training_example_count; i++)
        if (training_examples[i].makes_model)
            training_run(&training_examples[i]);
}

static void run(size_t index, ane_result *out)
{
    char work[512];
    struct stat found;
    const training_example *example = &training_examples[index];
    if (example->data != NULL && stat(example->data, &found) != 0) {
        ane_say(out, "absent", "%s is not there: ./run data gets it", example->data);
        return;
    }
    if (!folder_enter(work)) {
        ane_say(out, "failed", "%s", "no folder");
        return;
    }
    if (example->tunes_model)
        make_model();
    training_run(example);
    if (training_last.graph != NULL)
        library_compare(training_last.graph, feed, NULL, out);
    else
        ane_say(out, "failed", "%s", "no program");
    folder_leave(work);
}

const ane_section ane_training = {"training", item, run};
