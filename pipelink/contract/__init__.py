"""What a contract can say, each thing once: its attributes (``vocabulary``) in rows (``fields``).

Nothing here reads or writes anything; what does (records, IR, views, documentation) derives its rules from here.
"""
