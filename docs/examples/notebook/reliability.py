# From a table of texts to answers with all probabilities, marks, measures and a reliability plot.
#
#   pip install 'refract-client[pandas]' matplotlib
#
# A node serves at REFRACT_URL, such as http://127.0.0.1:8080/v1, with the key REFRACT_KEY. `refract` is on the
# path, and DATABASE_URL is the node's. Jupyter, VS Code and PyCharm run a cell, from one `# %%` to the next.

# %% Ask, eight texts at a time. By its key, a text that has an answer is not asked about again.
import io, os, subprocess
from concurrent.futures import ThreadPoolExecutor
import matplotlib.pyplot as plt
import pandas as pd
from refract_client import Refract, to_frame

texts = pd.read_csv("gold.csv")  # ref, text, and the right answers in expected_topic, expected_angry, expected_urgency
def ask(row):
    return refract.raw.create("support-triage", text=row.text, ref=row.ref, idempotency_key=f"notebook {row.ref}")
with Refract(os.environ["REFRACT_URL"], os.environ["REFRACT_KEY"]) as refract, ThreadPoolExecutor(8) as threads:
    answers = to_frame(threads.map(ask, texts.itertuples()))
print(answers.filter(regex="^(ref|topic|angry|urgency)"))

# %% Mark: the right answers of the table are those of a person. `ref` says of which result.
marks = texts.drop(columns="text").to_csv(index=False)
subprocess.run(["refract", "marks", "import", "support-triage", "-", "--by", "Ada"], input=marks, text=True, check=True)

# %% Measure, by question
measured = subprocess.run(["refract", "evaluate", "support-triage", "--json"], stdout=subprocess.PIPE, check=True).stdout
measures = pd.read_json(io.BytesIO(measured), lines=True).set_index("question")
print(measures[["marks", "accuracy", "accuracy_low", "accuracy_high", "brier", "ece", "auc"]].round(3))

# %% Plot how often answers of each probability are right: on the dotted line, probabilities are true.
figure, plots = plt.subplots(1, len(measures), figsize=(12, 4), sharey=True, layout="constrained")
for plot, (question, groups) in zip(plots, measures["reliability"].items()):
    groups = pd.DataFrame(groups)
    plot.scatter(groups["mean_probability"], groups["share_right"], s=groups["count"] * 4, alpha=0.6)
    plot.plot([0, 1], [0, 1], ":", color="gray")
    plot.set(title=f"{question}: ECE {measures.ece[question]:.3f}", xlabel="mean probability", ylabel="share right")
figure.savefig("reliability.png")
