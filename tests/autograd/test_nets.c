/* Four networks, each trained for ten steps on the engine against losses, parameters and running statistics that
 * PyTorch recorded: tests/data/torch/net_losses.{py,txt}, whose words are explained there. The networks are in nets.c.
 */
#include "hashed.h"
#include "nets.h"
#include "support/check.h"

#include "base/text/error.h"
#include <inttypes.h>
#include <stdlib.h>

#define STEPS 10
#define PORTS 2

typedef struct port {
    char name[64], kind;
    size_t count;
    uint64_t stream;
    float scale, offset;
} port;

/* A network while its record is read. */
typedef struct session {
    const char *name;
    mw_trainer *trainer;
    double tolerance;
    const char *drifting; /* a parameter of which a part has no gradient but rounding; may be NULL */
    double drift;         /* allowed in its sum */
    port ports[PORTS];
    size_t port_count;
    mw_error err;
    size_t compared; /* numbers that were held against PyTorch's */
} session;

static void read_weight(session *s, FILE *file)
{
    port w = {.kind = 'f'};
    if (fscanf(file, "%63s %zu %" SCNu64 " %f %f", w.name, &w.count, &w.stream, &w.scale, &w.offset) != 5)
        return;
    float *values = hashed_floats(w.count, w.stream, w.scale, w.offset);
    mw_trainer_write(s->trainer, w.name, MW_F32, values, w.count, &s->err);
    free(values);
}

static void read_input(session *s, FILE *file)
{
    port p = {0};
    if (s->port_count < PORTS &&
        fscanf(file, "%63s %c %zu %" SCNu64 " %f %f", p.name, &p.kind, &p.count, &p.stream, &p.scale, &p.offset) == 6)
        s->ports[s->port_count++] = p;
}

static float one_step(session *s, int step)
{
    mw_feed feeds[PORTS];
    float loss = NAN;
    void *data[PORTS];
    for (size_t i = 0; i < s->port_count; i++) {
        const port *p = &s->ports[i];
        const uint64_t stream = p->stream + (uint64_t)step;
        const bool integers = p->kind == 'i';
        data[i] = integers ? (void *)hashed_integers(p->count, stream, (int32_t)p->scale)
                           : hashed_floats(p->count, stream, p->scale, p->offset);
        feeds[i] = (mw_feed){.name = p->name, .dtype = integers ? MW_I32 : MW_F32, .data = data[i], .count = p->count};
    }
    const mw_batch batch = {.feeds = feeds, .feed_count = s->port_count, .examples = nets_batch(s->name)};
    mw_trainer_step(s->trainer, &batch, &loss, &s->err);
    for (size_t i = 0; i < s->port_count; i++)
        free(data[i]);
    return loss;
}

static void read_losses(session *s, FILE *file)
{
    for (int step = 0; step < STEPS; step++) {
        double wanted;
        if (fscanf(file, "%lf", &wanted) != 1)
            return;
        const double loss = (double)one_step(s, step);
        check_note(fabs(loss - wanted) <= s->tolerance * fabs(wanted), __FILE__, __LINE__,
                   "%s: loss of step %d is %.8g, PyTorch has %.8g", s->name, step, loss, wanted);
        s->compared++;
    }
}

static void read_sum(session *s, FILE *file)
{
    char name[64];
    double wanted, sum = 0.0;
    if (fscanf(file, "%63s %lf", name, &wanted) != 2)
        return;
    const size_t count = nets_count(s->trainer, name);
    float *values = calloc(count + 1, sizeof *values);
    mw_trainer_read(s->trainer, name, MW_F32, values, count, &s->err);
    for (size_t i = 0; i < count; i++)
        sum += fabs((double)values[i]);
    free(values);
    const double drift = s->drifting != NULL && strcmp(name, s->drifting) == 0 ? s->drift : 0.0;
    check_note(fabs(sum - wanted) <= s->tolerance * fabs(wanted) + drift, __FILE__, __LINE__,
               "%s: the sum of |%s| is %.8g, PyTorch has %.8g", s->name, name, sum, wanted);
    s->compared++;
}

/* Goes to the lines of one network, reads them, stops at the next. */
static void follow(session *s, FILE *file)
{
    char word[64];
    bool inside = false;
    while (fscanf(file, "%63s", word) == 1 && !mw__failed(&s->err)) {
        if (strcmp(word, "net") == 0)
            inside = fscanf(file, "%63s", word) == 1 && strcmp(word, s->name) == 0;
        else if (inside && strcmp(word, "weight") == 0)
            read_weight(s, file);
        else if (inside && strcmp(word, "input") == 0)
            read_input(s, file);
        else if (inside && strcmp(word, "losses") == 0)
            read_losses(s, file);
        else if (inside && strcmp(word, "sum") == 0)
            read_sum(s, file);
    }
}

static void check_net(const char *name, mw_optimizer optimizer, double tolerance, const char *drifting, double drift)
{
    char path[512];
    session s = {.name = name, .tolerance = tolerance, .drifting = drifting, .drift = drift};
    snprintf(path, sizeof path, "%s/data/torch/net_losses.txt", MW_TESTS_DIR);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    s.trainer = nets_trainer(name, optimizer, &s.err);
    if (s.trainer != NULL)
        follow(&s, file);
    fclose(file);
    CHECK_OK(s.err);
    check_note(s.compared >= STEPS + 8, __FILE__, __LINE__, "%s: only %zu numbers were compared", name, s.compared);
    mw_trainer_destroy(s.trainer);
}

/* Two fp32 implementations differ by rounding, which the first Adam steps amplify where gradients are near zero
 * (m / sqrt(v) is +-1 whatever their size): 2e-4 of the number. */
static void test_a_convolution_net_follows_pytorch(void) { check_net("conv", mw_adam(1e-3f), 2e-4, NULL, 0.0); }

/* Running statistics are among the sums. */
static void test_a_residual_net_follows_pytorch(void)
{
    check_net("resnet", mw_sgd_momentum(0.05f, 0.9f, false), 2e-4, NULL, 0.0);
}

/* A bias of the keys shifts all scores of a row alike, which softmax does not see: its gradient is what rounding
 * leaves, and each of its 32 numbers moves by up to 1e-3 a step either way, about 1e-3 sqrt(32 STEPS) in all. */
static void test_a_transformer_block_follows_pytorch(void)
{
    check_net("transformer", mw_adamw(1e-3f, 0.01f), 2e-4, "qkv.bias", 0.02);
}

static void test_a_variational_autoencoder_follows_pytorch(void) { check_net("vae", mw_adam(1e-3f), 2e-4, NULL, 0.0); }

int main(void)
{
    RUN(test_a_convolution_net_follows_pytorch);
    RUN(test_a_residual_net_follows_pytorch);
    RUN(test_a_transformer_block_follows_pytorch);
    RUN(test_a_variational_autoencoder_follows_pytorch);
    return check_finish();
}
