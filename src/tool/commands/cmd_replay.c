/* mw replay: why a step was refused. */
#include "tool/commands/commands.h"
#include "tool/source.h"

#include <millwright/inspect.h>

const tool_option tool_replay_options[] = {
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS_END,
};

static void say_result(const mw_replay_result *result, const tool_call *call)
{
    if (call->json == NULL) {
        tool_print("step %lld, %zu values, %zu of them not finite or beyond their limit\n", (long long)result->step,
                   result->values, result->non_finite);
        tool_show(result->non_finite > 0 ? result->text : "all are finite here");
        tool_puts("\n");
        return;
    }
    mw__json_add_integer(call->json, "step", result->step);
    mw__json_add_integer(call->json, "values", (int64_t)result->values);
    mw__json_add_integer(call->json, "non_finite", (int64_t)result->non_finite);
    mw__json_add_string(call->json, "operation", result->operation);
    mw__json_add_string(call->json, "tensor", result->tensor);
    mw__json_add_string(call->json, "text", result->text);
}

int tool_replay(const tool_call *call)
{
    mw_compile_options options;
    mw_replay_result result;
    if (TOOL_REFUSE("here: the step has its own", "batch") || !tool_compile_options(&options))
        return TOOL_USAGE;
    if (mw_replay_run(call->arguments[0], &options, &result, call->err) != MW_OK)
        return TOOL_FAILED;
    say_result(&result, call);
    return result.non_finite > 0 ? TOOL_DIFFERS : TOOL_DONE;
}
