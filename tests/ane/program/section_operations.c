/* The cases of the operation table in fp16, on the library and on the model of each chip. */
#include "library.h"
#include "support/cases/op_cases.h"

#include <stdio.h>

static const char *item(size_t index)
{
    static char name[160];
    const op_case *c = op_case_at(index);
    if (c == NULL)
        return NULL;
    snprintf(name, sizeof name, "%s%s%s", c->name, c->detail[0] != '\0' ? ": " : "", c->detail);
    return name;
}

static bool feed(void *user, mw_program *program, mw_error *err)
{
    static const char *const names[OP_CASE_INPUTS] = {"a", "b", "c", "d"};
    const op_instance *instance = user;
    for (size_t i = 0; i < instance->count; i++)
        if (mw_program_write(program, names[i], MW_F64, instance->data[i], (size_t)oracle_count(instance->in[i]),
                             err) != MW_OK)
            return false;
    return true;
}

static void run(size_t index, ane_result *out)
{
    op_instance instance;
    mw_error err = {0};
    if (!op_instance_init(&instance, op_case_at(index), MW_F16, 7)) {
        mw_graph_check(instance.graph, &err);
        ane_say(out, "failed", "no graph: %s", err.message);
    } else {
        mw_output(instance.y, "y");
        library_compare(instance.graph, feed, &instance, out);
    }
    op_instance_deinit(&instance);
}

const ane_section ane_operations = {"operations", item, run};
