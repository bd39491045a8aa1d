#include "mil/pass_text.h"

#include <millwright/mil.h>

void mw__mil_begin_pass(mw__pass_run *run, mw__pass_log *log, mw__rule_id id, const mw_graph *from)
{
    mw__pass_begin(run, log, id, NULL, mw__pass_is_watched(log) ? mw__pass_count(from) : 0);
}

mw_status mw__mil_end_pass(mw__pass_run *run, const mw_graph *made, bool changed, const mw__pass_promise *promise,
                           mw_error *err)
{
    char *text = NULL;
    if (!mw__pass_is_watched(run->log))
        return MW_OK;
    if (mw__pass_wants_text(run->log) && changed) {
        const mw_write_options options = mw_write_defaults();
        text = mw_graph_print_mil(made, &options, err);
        if (text == NULL)
            return err->status;
    }
    const bool holds = promise->holds(mw__graph_main(made), promise->device);
    mw__pass_end(run, &(mw__pass_result){.after = mw__pass_count(made),
                                         .changed = changed,
                                         .text = text,
                                         .broken = holds ? NULL : promise->name});
    mw_string_free(text);
    return MW_OK;
}
