/* The zoo's program: one network after the other, each in a process of its own, by the command line below. Prints
 * network<TAB>metric<TAB>value. */
#include "run.h"

#include <sys/wait.h>
#include <unistd.h>

const zoo_net zoo_nets[] = {
#define ZOO(name, paper, batch, optimizer, what) {#name, paper, what, zoo_##name, batch, #optimizer},
#include "zoo.def"
#undef ZOO
};
const size_t zoo_net_count = sizeof zoo_nets / sizeof *zoo_nets;

static void show_usage(void)
{
    fprintf(stderr, "usage: zoo [NAME ..] [options]   all networks if none is named\n"
                    "  --list          names, papers and what they are\n"
                    "  --infer         run the model in the place of training\n"
                    "  --model FORMAT  with --infer: mlpackage or onnx is written and read back (mlpackage)\n"
                    "  --onnx FILE     of one network: write its inference form, and FILE.inputs\n"
                    "  --threads N     (1)\n"
                    "  --steps N       (5)\n"
                    "  --device D      cpu or ane; off a Mac, ane is the fp16 model of it\n"
                    "  --tiny          small networks, to try them out\n"
                    "  --plan          print the steps of the program with their times\n"
                    "  --mil FILE      write the text of the program: what the names in a plan stand for\n"
                    "  --trace FILE    write a trace of the last steps for Perfetto\n"
                    "  --weights FILE  a step of gradient descent: weights before in FILE.before, after in FILE\n");
    exit(2);
}

static void list_nets(void)
{
    for (size_t i = 0; i < zoo_net_count; i++)
        printf("%s\t%s\t%s\n", zoo_nets[i].name, zoo_nets[i].paper, zoo_nets[i].what);
    exit(0);
}

/* An option without a value. */
static bool take_switch(zoo_options *o, const char *name)
{
    if (strcmp(name, "--list") == 0)
        list_nets();
    bool *const flag = strcmp(name, "--infer") == 0  ? &o->infer
                       : strcmp(name, "--tiny") == 0 ? &o->bench.tiny
                       : strcmp(name, "--plan") == 0 ? &o->bench.plan
                                                     : NULL;
    if (flag != NULL)
        *flag = true;
    return flag != NULL;
}

static bool take_value(zoo_options *o, const char *name, const char *value)
{
    if (strcmp(name, "--threads") == 0)
        return bench_count(value, &o->bench.threads);
    if (strcmp(name, "--steps") == 0)
        return bench_count(value, &o->bench.steps);
    if (strcmp(name, "--device") == 0) {
        o->bench.fp16 = strcmp(value, "ane") == 0;
        return o->bench.fp16 || strcmp(value, "cpu") == 0;
    }
    if (strcmp(name, "--model") == 0) {
        o->model = value;
        return strcmp(value, "onnx") == 0 || strcmp(value, "mlpackage") == 0;
    }
    const char **const text = strcmp(name, "--onnx") == 0      ? &o->onnx
                              : strcmp(name, "--mil") == 0     ? &o->mil
                              : strcmp(name, "--trace") == 0   ? &o->bench.trace
                              : strcmp(name, "--weights") == 0 ? &o->bench.weights
                                                               : NULL;
    if (text != NULL)
        *text = value;
    return text != NULL;
}

static bool is_wanted(const zoo_net *net, char **names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], net->name) == 0)
            return true;
    return count == 0;
}

static int run_net(zoo_options o, const zoo_net *net)
{
    mw_error err = {0};
    o.bench.workload = net->name;
    if (o.onnx != NULL)
        zoo_export(&o, net, &err);
    else
        (o.infer ? zoo_infer : zoo_train)(&o, net, &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s: %s\n", net->name, err.message);
    return err.status != MW_OK;
}

/* Memory and first steps are those of a process of its own. */
static int run_apart(const zoo_options *o, const zoo_net *net)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int failed = run_net(*o, net);
        fflush(stdout);
        _exit(failed);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s failed\n", net->name);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    zoo_options o = {.bench = {.threads = 1}, .model = "mlpackage"};
    int names = 0, failed = 0, found = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            argv[names++] = argv[i];
        else if (!take_switch(&o, argv[i])) {
            if (i + 1 >= argc || !take_value(&o, argv[i], argv[i + 1]))
                show_usage();
            i++;
        }
    }
    for (size_t i = 0; i < zoo_net_count; i++) {
        if (!is_wanted(&zoo_nets[i], argv, names))
            continue;
        found++;
        failed += run_apart(&o, &zoo_nets[i]);
    }
    if (found < names || (o.onnx != NULL && found != 1))
        show_usage();
    return failed > 0;
}
