/* Fine-tunes a language model of a folder (GPT-2, or any family that docs/text.md lists) on a text, all of its weights:
 *     gpt2_finetune gpt2 notes.txt tuned [EPOCHS [TOKENS]]
 * and prints the loss on the last tenth of the text after each epoch. `tuned` is then a folder like the first:
 *     mw generate tuned --prompt "Dear diary" */
#include <math.h>
#include <millwright/text.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEP = 4 };

static bool show(void *user, const mw_progress *p)
{
    mw_text_data *data = user;
    const double loss = p->validation.examples > 0 ? p->validation.loss : p->loss;
    if (p->epoch_end)
        printf("epoch %lld: perplexity %.4g, %.4g bits a byte\n", (long long)p->epoch, exp(loss),
               loss / log(2.0) / mw_text_data_get_info(data).label_bytes);
    return false;
}

static mw_trainer *make_trainer(const mw_text_config *config, int64_t tokens, mw_error *err)
{
    mw_text_graph_options form = mw_text_graph_defaults();
    form.batch = 1;
    form.tokens = tokens;
    form.loss = true;
    mw_graph *graph = mw_text_graph(config, &form, err);
    mw_trainer_options options = mw_trainer_defaults(mw_graph_output_at(graph, 0), mw_adamw(5e-5f, 0.01f));
    options.accumulate = STEP; /* a step of four texts, in the memory of one */
    mw_trainer *trainer = graph != NULL ? mw_trainer_create(&options, err) : NULL;
    mw_graph_destroy(graph);
    return trainer;
}

static void tune(const char *folder, const char *text, const char *out, int64_t epochs, int64_t tokens, mw_error *err)
{
    mw_text_config config;
    if (mw_text_config_read(folder, &config, err) != MW_OK)
        return;
    mw_text_data_options options = mw_text_data_defaults();
    options.tokens = tokens < config.positions ? tokens : config.positions;
    options.multiple = STEP;
    mw_text_data *data = mw_text_data_open(text, folder, &options, err);
    mw_trainer *trainer = data != NULL ? make_trainer(&config, options.tokens, err) : NULL;
    mw_fit_options fit = mw_fit_defaults(mw_text_data_training(data), epochs);
    fit.data.validation = mw_text_data_validation(data);
    fit.progress.quiet = true;
    fit.progress.function = show;
    fit.progress.user = data;
    if (trainer != NULL && mw_text_load_weights(trainer, folder, err) == MW_OK &&
        mw_trainer_fit(trainer, &fit, err) == MW_OK)
        mw_text_save_trained(trainer, folder, out, NULL, err);
    mw_trainer_destroy(trainer);
    mw_text_data_destroy(data);
}

int main(int argc, char **argv)
{
    mw_error err = {0};
    if (argc < 4) {
        fprintf(stderr, "usage: %s FOLDER TEXT OUT [EPOCHS [TOKENS]]\n", argv[0]);
        return 2;
    }
    tune(argv[1], argv[2], argv[3], argc > 4 ? atoll(argv[4]) : 1, argc > 5 ? atoll(argv[5]) : 256, &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s: %s\n", argv[0], err.message);
    return err.status == MW_OK ? 0 : 1;
}
