/* A label and an implementation name one kernel: over the steps of every operation case, at every level. */
#include "engine/core/kernel.h"
#include "engine/run.h"
#include "support/cases/op_cases.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <string.h>

enum { KERNELS = 1024, NAME = 64 };

static struct kernel {
    char label[NAME], implementation[NAME];
    mw__kernel *run;
    const op_case *first; /* that has it */
} kernels[KERNELS];
static size_t kernel_count;

static void check_step(const op_case *c, const mw__step *step)
{
    const char *implementation = step->report.implementation != NULL ? step->report.implementation : "";
    for (size_t i = 0; i < kernel_count; i++)
        if (strcmp(kernels[i].label, step->report.label) == 0 &&
            strcmp(kernels[i].implementation, implementation) == 0) {
            check_note(kernels[i].run == step->run, __FILE__, __LINE__,
                       "\"%s\" by \"%s\": one kernel in %s (%s), another in %s (%s)", step->report.label,
                       implementation, kernels[i].first->name, kernels[i].first->detail, c->name, c->detail);
            return;
        }
    REQUIRE(kernel_count < KERNELS);
    struct kernel *kernel = &kernels[kernel_count++];
    snprintf(kernel->label, NAME, "%s", step->report.label);
    snprintf(kernel->implementation, NAME, "%s", implementation);
    kernel->run = step->run;
    kernel->first = c;
}

static void check_case(const op_case *c)
{
    mw_error err = {0};
    op_instance instance;
    if (op_instance_init(&instance, c, MW_F32, 7)) {
        mw_output(instance.y, "y");
        mw__library *library = run_library_of(instance.graph, 3, &err);
        CHECK_OK(err);
        for (size_t s = 0; library != NULL && s < library->programs[0].plan.step_count; s++)
            check_step(c, library->programs[0].plan.steps[s]);
        if (library != NULL)
            mw__object_release(library);
    }
    op_instance_deinit(&instance);
}

static void check_all(const char *variable, const char *value)
{
    kernel_count = 0;
    run_set(variable, value);
    const op_case *c;
    for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
        check_case(c);
    run_set(variable, NULL);
    CHECK(kernel_count > 100);
}

static void test_every_level_names_its_kernels(void)
{
    check_all("MW_ENGINE_WIDE", "512");
    check_all("MW_ENGINE_WIDE", "256");
    check_all("MW_ENGINE_WIDE", "0");
    check_all("MW_ENGINE_REF", "1");
}

int main(void)
{
    RUN(test_every_level_names_its_kernels);
    return check_finish();
}
