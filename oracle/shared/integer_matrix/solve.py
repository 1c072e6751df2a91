"""Normal forms of integer matrices by elimination with row and column operations."""


def solve(problem):
    """The submission for a Smith or Hermite problem."""
    matrix = problem["matrix"]
    answer = {
        "instance": problem["instance"],
        "rows": len(matrix),
        "columns": len(matrix[0]),
        "domain": "integers",
    }
    if problem["kind"] == "smith":
        diagonal = smith(matrix)
        products, running = [], 1
        for value in diagonal:
            running *= value
            products.append(running)
        return answer | {
            "rank": sum(1 for value in diagonal if value),
            "invariants": diagonal,
            "determinantal_divisors": products,
        }
    form, transform = hermite(matrix)
    return answer | {"rank": sum(1 for row in form if any(row)), "form": form, "transform": transform}


def smith(matrix):
    """Diagonal of the Smith normal form: clear a row and a column around the smallest entry, again and again."""
    work = [list(row) for row in matrix]
    rows, columns = len(work), len(work[0])
    diagonal = []
    for corner in range(min(rows, columns)):
        while True:
            spot = _smallest(work, corner)
            if spot is None:
                return diagonal + [0] * (min(rows, columns) - corner)
            row, column = spot
            work[corner], work[row] = work[row], work[corner]
            for line in work:
                line[corner], line[column] = line[column], line[corner]
            pivot = work[corner][corner]
            for line in work[corner + 1 :]:
                factor = line[corner] // pivot
                for index in range(corner, columns):
                    line[index] -= factor * work[corner][index]
            for index in range(corner + 1, columns):
                factor = work[corner][index] // pivot
                for line in work[corner:]:
                    line[index] -= factor * line[corner]
            if any(line[corner] for line in work[corner + 1 :]) or any(work[corner][corner + 1 :]):
                continue
            odd = next((line for line in work[corner + 1 :] if any(v % pivot for v in line[corner + 1 :])), None)
            if odd is None:
                diagonal.append(abs(pivot))
                break
            # An entry that the pivot does not divide joins the pivot's row and shrinks the next pivot.
            work[corner] = [a + b for a, b in zip(work[corner], odd)]
    return diagonal


def _smallest(work, corner):
    best = None
    for row in range(corner, len(work)):
        for column in range(corner, len(work[0])):
            value = abs(work[row][column])
            if value and (best is None or value < abs(work[best[0]][best[1]])):
                best = (row, column)
    return best


def hermite(matrix):
    """Row-style Hermite form and a unimodular transform, by Euclid's algorithm on rows."""
    size, columns = len(matrix), len(matrix[0])
    rows = [list(row) + [int(i == j) for j in range(size)] for i, row in enumerate(matrix)]
    top = 0
    for column in range(columns):
        while True:
            candidates = [index for index in range(top, size) if rows[index][column]]
            if not candidates:
                break
            best = min(candidates, key=lambda index: abs(rows[index][column]))
            rows[top], rows[best] = rows[best], rows[top]
            if rows[top][column] < 0:
                rows[top] = [-value for value in rows[top]]
            for index in range(top + 1, size):
                factor = rows[index][column] // rows[top][column]
                rows[index] = [a - factor * b for a, b in zip(rows[index], rows[top])]
            if not any(rows[index][column] for index in range(top + 1, size)):
                for index in range(top):
                    factor = rows[index][column] // rows[top][column]
                    rows[index] = [a - factor * b for a, b in zip(rows[index], rows[top])]
                top += 1
                break
        if top == size:
            break
    return [row[:columns] for row in rows], [row[columns:] for row in rows]
