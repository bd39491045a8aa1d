#include "child.h"
#include "small.h"
#include "support/check.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int child_run(void (*function)(void *user), void *user)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        function(user);
        fflush(stdout);
        _exit(check_global.failures_here != 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

void child_check(void (*function)(void *user), void *user)
{
    const int status = child_run(function, user);
    check_note(WIFEXITED(status) && WEXITSTATUS(status) == 0, __FILE__, __LINE__, "the child ended with %s %d",
               WIFSIGNALED(status) ? "signal" : "exit code", WIFSIGNALED(status) ? WTERMSIG(status) : status >> 8);
}

child_net child_make(mw_error *err)
{
    const small_data data = small_make_data();
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .data = data.y}};
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.02f));
    options.metric = net.accuracy;
    options.prediction = net.logits;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    const child_net made = {.data = mw_dataset_from_memory(columns, 2, SMALL_EXAMPLES, true, err),
                            .trainer = mw_trainer_create(&options, err)};
    mw_graph_destroy(net.graph);
    CHECK_INT(err->status, MW_OK);
    return made;
}

void child_free(child_net *net)
{
    mw_trainer_destroy(net->trainer);
    mw_dataset_destroy(net->data);
}
